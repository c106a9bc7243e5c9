import type { AttackRoute, ClientConnection } from './client-connection.ts';

const keyOf = ({ address, port, localAddress = '', isTls, serverName = '', shape }: AttackRoute): string =>
  [address, port, localAddress, isTls, serverName, JSON.stringify(shape)].join(' ');

/** Idle connections that can be reused. */
export class ConnectionPool {
  readonly #idle = new Map<string, ClientConnection[]>();

  /** An idle connection without unread bytes; undefined when there is none. */
  take(route: AttackRoute): ClientConnection | undefined {
    const idle = this.#idle.get(keyOf(route)) ?? [];
    for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
      if (connection.isOpen && connection.take().length === 0) return connection;
      connection.close();
    }
    return undefined;
  }

  give(route: AttackRoute, connection: ClientConnection): void {
    const key = keyOf(route);
    this.#idle.set(key, [...(this.#idle.get(key) ?? []), connection]);
  }

  close(): void {
    for (const connections of this.#idle.values()) for (const connection of connections) connection.close();
    this.#idle.clear();
  }
}
