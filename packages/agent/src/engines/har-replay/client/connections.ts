import type { HarReplayClientConfig } from '@rushhour/protocol';
import type { Answer, Request } from '../server/answer.ts';
import { ConnectionError, type HttpConnection } from './http-connection.ts';

/** Connections shared by requests with the same key. */
interface Group {
  readonly httpConnections: HttpConnection[];
  opening: number;
  waiting: (() => void)[];
}

/** Selects the connection of a request. */
export interface ConnectionOptions {
  /** Index of the origin. */
  readonly origin: number;
  /** Its requests share one connection. */
  readonly isShared: boolean;
  readonly connection?: string | undefined;
}

export interface ConnectionsOptions extends Pick<HarReplayClientConfig, 'connections' | 'maxPerHost'> {
  /** Rejects with a `ConnectionError`. */
  readonly open: (origin: number) => Promise<HttpConnection>;
}

/** The connections of one user. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #groups = new Map<string, Group>();
  readonly #all = new Set<HttpConnection>();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** Rejects with a `ConnectionError`. */
  async exchange(connectionOptions: ConnectionOptions, request: Request, timeoutMs: number): Promise<Answer> {
    if (this.#options.connections === 'perEntry') return this.#exchangeAlone(connectionOptions, request, timeoutMs);
    const group = this.#groupOf(connectionOptions);
    for (;;) {
      const httpConnection = await this.#acquire(group, connectionOptions);
      const wasUsed = httpConnection.answered > 0;
      try {
        return await httpConnection.exchange(request, timeoutMs);
      } catch (error) {
        // A server may close an idle connection just when it is reused; the request is repeated on another one.
        const isStale = wasUsed && error instanceof ConnectionError && /^(closed|ECONNRESET|EPIPE)$/.test(error.code);
        if (!isStale) throw error;
      } finally {
        this.#release(group, httpConnection);
      }
    }
  }

  close(): void {
    for (const httpConnection of this.#all) httpConnection.close();
    this.#all.clear();
    this.#groups.clear();
  }

  /** Recorded connections belong to one visit; the next visit opens new ones. */
  endVisit(): void {
    if (this.#options.connections === 'recorded') this.close();
  }

  async #exchangeAlone({ origin }: ConnectionOptions, request: Request, timeoutMs: number): Promise<Answer> {
    const httpConnection = await this.#open(origin);
    try {
      return await httpConnection.exchange(request, timeoutMs);
    } finally {
      httpConnection.close();
      this.#all.delete(httpConnection);
    }
  }

  #groupOf({ origin, connection }: ConnectionOptions): Group {
    const isRecorded = this.#options.connections === 'recorded' && connection !== undefined;
    const key = isRecorded ? `${origin} ${connection}` : String(origin);
    const group = this.#groups.get(key) ?? { httpConnections: [], opening: 0, waiting: [] };
    this.#groups.set(key, group);
    return group;
  }

  #maxConnections({ httpConnections }: Group, { isShared, connection }: ConnectionOptions): number {
    if (this.#options.connections === 'recorded' && connection !== undefined) return 1;
    // The server may have negotiated HTTP/1.1 instead of HTTP/2.
    return isShared && httpConnections.every((httpConnection) => httpConnection.isShared)
      ? 1
      : this.#options.maxPerHost;
  }

  async #open(origin: number): Promise<HttpConnection> {
    const httpConnection = await this.#options.open(origin);
    this.#all.add(httpConnection);
    return httpConnection;
  }

  async #acquire(group: Group, connectionOptions: ConnectionOptions): Promise<HttpConnection> {
    for (;;) {
      for (const gone of group.httpConnections.filter((httpConnection) => !httpConnection.isOpen))
        this.#forget(group, gone);
      const free = group.httpConnections.find((httpConnection) => httpConnection.hasRoom);
      if (free !== undefined) {
        free.reserve();
        return free;
      }
      if (group.httpConnections.length + group.opening < this.#maxConnections(group, connectionOptions))
        return this.#add(group, connectionOptions.origin);
      await new Promise<void>((resolve) => group.waiting.push(resolve));
    }
  }

  async #add(group: Group, origin: number): Promise<HttpConnection> {
    group.opening++;
    try {
      const httpConnection = await this.#open(origin);
      httpConnection.reserve();
      group.httpConnections.push(httpConnection);
      return httpConnection;
    } finally {
      group.opening--;
      this.#wake(group);
    }
  }

  #release(group: Group, httpConnection: HttpConnection): void {
    if (!httpConnection.isOpen) this.#forget(group, httpConnection);
    this.#wake(group);
  }

  #forget(group: Group, httpConnection: HttpConnection): void {
    const at = group.httpConnections.indexOf(httpConnection);
    if (at >= 0) group.httpConnections.splice(at, 1);
    this.#all.delete(httpConnection);
  }

  #wake(group: Group): void {
    const { waiting } = group;
    group.waiting = [];
    for (const wake of waiting) wake();
  }
}
