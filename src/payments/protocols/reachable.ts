import { AppError } from '../../errors';

/** What a chain says. One that cannot be asked is `payments_unavailable`; a refusal stays what it is. */
export async function reachable<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('payments_unavailable', { retry_after_s: 5, cause: error });
  }
}
