import type { IkeSa } from '@rushhour/wire';
import { addressText } from './sa-text.ts';

/** Of events that are alike so many are lines of their own; more of them become one line. */
const maxAlike = 5;
/** Lines of a job: the time line of a run is to be read. */
const maxLines = 500;

/** What happened to the tunnels of a job, for the time line of the run. */
export class TunnelEvents {
  readonly #progress: (message: string) => void;
  /** Tunnels by what happened to them since the last report. */
  readonly #waiting = new Map<string, { readonly tunnels: string[]; count: number }>();
  #lines = 0;

  constructor(progress: (message: string) => void) {
    this.#progress = progress;
  }

  add({ route }: Pick<IkeSa, 'route'>, text: string): void {
    const alike = this.#waiting.get(text) ?? { tunnels: [], count: 0 };
    this.#waiting.set(text, alike);
    alike.count++;
    if (alike.count > maxAlike) return;
    alike.tunnels.push(`${addressText(route.localAddress)} to ${addressText(route.remoteAddress)}`);
  }

  report(): void {
    for (const [text, { tunnels, count }] of this.#waiting) {
      const lines = count > maxAlike ? [`${count} tunnels: ${text}`] : tunnels.map((tunnel) => `${tunnel}: ${text}`);
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
