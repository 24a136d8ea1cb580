import { AppError } from '../errors';

type Step = () => Promise<unknown>;

/** While a database is away, whoever pays adds a step: beyond so many they are left to time, which undoes what nobody moves. */
const MOST_ADDED = 1_000;

/** Steps of the ledger that its database did not answer, in their order. Whether they were taken is not known: each may be taken twice. */
export class MissedSteps {
  private readonly steps: Step[] = [];
  private catching: Promise<void> | null = null;

  /** Leaves a step to `catchUp` that is worth taking, and can be spared. */
  add(step: Step): void {
    if (this.steps.length < MOST_ADDED) this.steps.push(step);
  }

  /** Takes a step that must not be lost: where the database does not answer, it is left to `catchUp`. */
  async surely<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (error) {
      if (error instanceof AppError) this.steps.push(step);
      throw error;
    }
  }

  /** Takes a step that must not be lost, once those are taken that were missed before it; where the database does not answer, it is left to `catchUp` too. */
  inTurn(step: Step): Promise<void> {
    this.steps.push(step);
    return this.catchUp();
  }

  /** Takes what was missed, one step at a time whoever asks for it. Throws payments_unavailable while the database does not answer. */
  catchUp(): Promise<void> {
    return (this.catching ??= this.takeAll());
  }

  private async takeAll(): Promise<void> {
    // It ends after it is known to be under way, and in the moment that finds nothing left: what is added later is not left lying.
    await Promise.resolve();
    try {
      for (let step = this.steps.shift(); step !== undefined; step = this.steps.shift()) await this.take(step);
    } finally {
      this.catching = null;
    }
  }

  private async take(step: Step): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (error instanceof AppError) this.steps.unshift(step);
      throw error;
    }
  }
}
