/** Of events that are alike so many are lines of their own; more of them become one line. */
const maxAlike = 5;
/** Lines of a job: the time line of a run is to be read. */
const maxLines = 500;

/** What happened to the many objects of a job, for the time line of the run. */
export class EventLines {
  /** The objects, in the plural. */
  readonly #noun: string;
  readonly #progress: (message: string) => void;
  /** Objects by what happened to them since the last report. */
  readonly #waiting = new Map<string, { readonly subjects: string[]; count: number }>();
  #lines = 0;

  constructor(noun: string, progress: (message: string) => void) {
    this.#noun = noun;
    this.#progress = progress;
  }

  add(subject: () => string, text: string): void {
    const alike = this.#waiting.get(text) ?? { subjects: [], count: 0 };
    this.#waiting.set(text, alike);
    if (++alike.count <= maxAlike) alike.subjects.push(subject());
  }

  report(): void {
    for (const [text, { subjects, count }] of this.#waiting) {
      const lines = count > maxAlike ? [`${count} ${this.#noun}: ${text}`] : subjects.map((one) => `${one}: ${text}`);
      for (const line of lines) this.#put(line);
    }
    this.#waiting.clear();
  }

  #put(line: string): void {
    if (this.#lines > maxLines) return;
    this.#progress(
      this.#lines++ < maxLines ? line : `there are more events than ${maxLines}: further ones are not listed`,
    );
  }
}
