import type { Message } from '../transport/transport.ts';
import type { TicketStore } from './ticket-store.ts';
import { TlsConnection, type TlsConnectionDeps } from './tls-connection.ts';

const earlyDataRejected = 1;

/** What a client connects to. */
interface TlsTarget {
  readonly tickets: TicketStore | undefined;
  readonly endpoint: string;
  /** Sets the name and what the certificate has to be valid for. */
  readonly prepare: (session: number) => void;
}

/** The side that begins. */
export class TlsClientConnection extends TlsConnection {
  readonly #target: TlsTarget;
  readonly #offered: number;
  #lacksTicket: boolean;
  #sentEarly: Message[] | undefined;

  constructor(deps: TlsConnectionDeps, target: TlsTarget) {
    super(deps);
    this.#target = target;
    this.openssl.SSL_set_connect_state(this.session);
    target.prepare(this.session);
    const { tickets, endpoint } = target;
    this.#offered = tickets?.find(endpoint) ?? 0;
    this.#lacksTicket = tickets !== undefined;
    if (this.#offered !== 0) this.openssl.SSL_set_session(this.session, this.#offered);
  }

  onOpen(now: number): void {
    this.events.onConnect?.();
    const { pipes } = this.deps;
    const [outerAddress, outerLength] = [pipes.inputAddress, pipes.inputLength];
    pipes.setInput(0, 0);
    if (this.#mayBeEarly) this.#openEarly(now);
    if (this.phase !== 'freed') this.shake(now);
    pipes.setInput(outerAddress, outerLength);
  }

  protected override opened(now: number): void {
    const isResumed = this.#offered !== 0 && this.openssl.SSL_session_reused(this.session) === 1;
    if (isResumed) this.events.onResume?.();
    else if (this.#offered !== 0) this.#target.tickets?.refuse(this.#target.endpoint, this.#offered);
    // In TLS 1.2 the ticket is part of the handshake.
    this.#takeTicket();
    if (this.#sentEarly === undefined) this.events.onOpen(now);
    else this.#settleEarly(this.#sentEarly);
  }

  protected override afterRead(): void {
    this.#takeTicket();
  }

  protected override writeEarly(message: Message): boolean {
    this.#sentEarly?.push({ bytes: new Uint8Array(message.bytes), address: 0 });
    return super.writeEarly(message);
  }

  get #mayBeEarly(): boolean {
    return (
      this.deps.context.settings.earlyData === true &&
      this.#offered !== 0 &&
      this.openssl.SSL_SESSION_get_max_early_data(this.#offered) > 0
    );
  }

  #openEarly(now: number): void {
    this.phase = 'early';
    this.#sentEarly = [];
    this.events.onOpen(now);
  }

  /** Data of the first flight that the server has rejected is sent again. */
  #settleEarly(sent: readonly Message[]): void {
    this.#sentEarly = undefined;
    if (sent.length === 0) return;
    const isAccepted = this.openssl.SSL_get_early_data_status(this.session) !== earlyDataRejected;
    this.deps.onEarlyData?.(isAccepted);
    if (!isAccepted) for (const message of sent) this.write(message);
  }

  #takeTicket(): void {
    if (!this.#lacksTicket) return;
    const { tickets, endpoint } = this.#target;
    // One ticket serves many connections; with early data every connection needs one that was not used before.
    if (tickets === undefined || (tickets.find(endpoint) !== 0 && !this.deps.context.settings.earlyData)) return;
    if (!tickets.take(endpoint, this.session)) return;
    this.#lacksTicket = false;
    this.events.onTicket?.();
  }
}
