import type { Dialog } from './dialog.ts';
import type { AttackRoute } from './driver.ts';

const keyOf = ({ address, port, localAddress = '', isTls, serverName = '' }: AttackRoute): string =>
  [address, port, localAddress, isTls, serverName].join(' ');

/** Connections that carried an attempt to its end and can carry another. */
export class KeptDialogs {
  readonly #idle = new Map<string, Dialog[]>();

  /** One on which nothing has happened since; undefined when there is none. */
  take(route: AttackRoute): Dialog | undefined {
    const idle = this.#idle.get(keyOf(route)) ?? [];
    for (let dialog = idle.pop(); dialog !== undefined; dialog = idle.pop()) {
      if (dialog.isOpen && dialog.take().length === 0) return dialog;
      dialog.close();
    }
    return undefined;
  }

  give(route: AttackRoute, dialog: Dialog): void {
    const key = keyOf(route);
    this.#idle.set(key, [...(this.#idle.get(key) ?? []), dialog]);
  }

  close(): void {
    for (const dialogs of this.#idle.values()) for (const dialog of dialogs) dialog.close();
    this.#idle.clear();
  }
}
