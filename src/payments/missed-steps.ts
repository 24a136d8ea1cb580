import { AppError } from '../errors';

type Step = () => Promise<unknown>;

/** While a database is away, whoever pays adds a step: beyond so many they are left to time, which undoes what nobody moves. */
const MOST_ADDED = 1_000;

/** Steps of the ledger that its database did not answer, in their order. Whether they were taken is not known: each may be taken twice. */
export class MissedSteps {
  private readonly steps: Step[] = [];

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

  /** Takes what was missed. Throws payments_unavailable while the database does not answer. */
  async catchUp(): Promise<void> {
    for (let step = this.steps.shift(); step !== undefined; step = this.steps.shift()) {
      try {
        await step();
      } catch (error) {
        if (error instanceof AppError) this.steps.unshift(step);
        throw error;
      }
    }
  }
}
