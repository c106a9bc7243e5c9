/** Which results of a security test count as blocked, and how its path is verified. */
export interface Detection {
  readonly control: {
    readonly everyAttempts: number;
    readonly afterSilentDrop: boolean;
    readonly retries: number;
    readonly timeoutMs: number;
    readonly recoverySeconds: number;
  };
  readonly alerts?: {
    readonly enabled: boolean;
    readonly fileID?: number | undefined;
    readonly regex?: string | undefined;
  };
  readonly blockRegex?: string | undefined;
  readonly passRegex?: string | undefined;
  readonly [member: string]: unknown;
}

/** The attempts of one entry as a file: agents get it by its hash, and it is stored with the run. */
export interface PlannedAttempts {
  readonly sha256: string;
  readonly size: number;
  /** One JSON object a line. */
  readonly text: string;
  readonly count: number;
  readonly policy: Detection;
}

/** The attempt files of a plan, each once. */
export class AttemptFiles {
  readonly #files = new Map<string, PlannedAttempts>();

  add(file: PlannedAttempts): void {
    this.#files.set(file.sha256, file);
  }

  get all(): readonly PlannedAttempts[] {
    return [...this.#files.values()];
  }
}
