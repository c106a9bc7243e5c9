import type { IkeSa } from '@rushhour/wire';
import { EventLines } from '../../event-lines.ts';
import { addressText } from './sa-text.ts';

/** What happened to the tunnels of a job, for the time line of the run. */
export class TunnelEvents {
  readonly #lines: EventLines;

  constructor(progress: (message: string) => void) {
    this.#lines = new EventLines('tunnels', progress);
  }

  add({ route }: Pick<IkeSa, 'route'>, text: string): void {
    this.#lines.add(() => `${addressText(route.localAddress)} to ${addressText(route.remoteAddress)}`, text);
  }

  report(): void {
    this.#lines.report();
  }
}
