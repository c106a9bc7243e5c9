/** Why an agent is not admitted, as sent to the agent. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: string;
  /** Whether it makes sense to try again. */
  readonly retry: boolean;

  constructor(code: string, reason: string, retry = false) {
    super(reason);
    this.code = code;
    this.retry = retry;
  }
}
