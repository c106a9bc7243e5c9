import { requireOpenssl } from './library.ts';

/** The newest session of every endpoint; servers accept a ticket more than once. */
export class TicketStore {
  readonly #openssl = requireOpenssl();
  readonly #tickets = new Map<string, number>();

  /** The session to offer; 0 if there is none. A session is spent once a connection that resumed it has failed. */
  find(endpoint: string): number {
    const ticket = this.#tickets.get(endpoint);
    if (ticket === undefined) return 0;
    if (this.#openssl.SSL_SESSION_is_resumable(ticket) === 1) return ticket;
    this.#free(endpoint);
    return 0;
  }

  has(endpoint: string): boolean {
    return this.find(endpoint) !== 0;
  }

  /** Takes the ticket of an open session, if it has one that can be resumed. */
  take(endpoint: string, session: number): boolean {
    const openssl = this.#openssl;
    const ticket = openssl.SSL_get1_session(session);
    if (ticket === 0) return false;
    if (openssl.SSL_SESSION_is_resumable(ticket) !== 1) {
      openssl.SSL_SESSION_free(ticket);
      return false;
    }
    this.#free(endpoint);
    this.#tickets.set(endpoint, ticket);
    return true;
  }

  /** The server did not accept this ticket. */
  refuse(endpoint: string, ticket: number): void {
    if (this.#tickets.get(endpoint) === ticket) this.#free(endpoint);
  }

  release(): void {
    for (const endpoint of [...this.#tickets.keys()]) this.#free(endpoint);
  }

  #free(endpoint: string): void {
    const ticket = this.#tickets.get(endpoint);
    if (ticket === undefined) return;
    this.#tickets.delete(endpoint);
    this.#openssl.SSL_SESSION_free(ticket);
  }
}
