import { copyOf, Memory } from '../../bytes/memory.ts';
import { copyMac, formatMac, macBytes } from '../../ethernet/ethernet.ts';
import type { SessionCause } from '../causes.ts';
import { authMethod } from '../ppp/lcp.ts';
import type { RadiusClient } from '../radius/client.ts';
import { type RadiusGrant, RadiusSessions, type RadiusSessionsOptions } from '../radius/sessions.ts';

/** A client of DHCP that a RADIUS server is asked about. */
export interface AdmittedClient {
  readonly index: number;
  readonly mac: Uint8Array;
  readonly tags: number;
  state: 'asked' | 'granted' | 'refused';
  /** Why it is refused; empty: it is not. */
  lastError: SessionCause | '';
  /** Its message, which is handled when it is let in. */
  message: Uint8Array | undefined;
  /** A refusal holds until then. */
  untilMs: number;
  /** When the session began that the grant is for. */
  sinceMs: number;
}

export interface DhcpAdmissionHost {
  readonly client: RadiusClient;
  readonly random: () => number;
  /** A client has been let in: its message is to be handled, with the MAC of the sender before it. */
  replay(memory: Memory, tags: number): void;
  onChange(client: AdmittedClient): void;
}

/** A client that was refused is asked about again after this time. */
const refusalMs = 10_000;
const encoder = new TextEncoder();
const usage = { rxPackets: 0, txPackets: 0, rxBytes: 0, txBytes: 0 };
const noChallenge = new Uint8Array(0);

/** Lets clients of DHCP in when a RADIUS server does. Their MAC is user name and password. */
export class DhcpAdmission {
  readonly clients: AdmittedClient[] = [];
  readonly #radius: RadiusSessions;
  readonly #host: DhcpAdmissionHost;
  readonly #byKey = new Map<string, AdmittedClient>();
  #nowMs = 0;

  constructor(host: DhcpAdmissionHost, options: Omit<RadiusSessionsOptions, 'isPpp'>) {
    const { client, random } = host;
    this.#host = host;
    this.#radius = new RadiusSessions(
      { client, random, lineOf: (index) => this.clients[index] as AdmittedClient, usageOf: () => usage },
      { ...options, isPpp: false },
    );
  }

  advance(nowMs: number): void {
    this.#nowMs = nowMs;
    this.#radius.advance(nowMs);
  }

  /** What a client is granted; undefined while the server has not let it in, which is asked now if need be. */
  grantOf(mac: Uint8Array, tags: number, message: () => Uint8Array): RadiusGrant | undefined {
    const client = this.#find(mac, tags) ?? this.#add(mac, tags);
    if (client === undefined || client.state === 'asked') return undefined;
    if (client.state === 'granted') return this.#radius.grantOf(client.index);
    if (this.#nowMs >= client.untilMs) this.#ask(client, message());
    return undefined;
  }

  /** Seconds that a granted session has left; infinite without an end. */
  leftSec(mac: Uint8Array, tags: number): number {
    const client = this.#find(mac, tags);
    const { sessionMs = 0 } = (client && this.#radius.grantOf(client.index)) ?? {};
    if (client === undefined || sessionMs === 0) return Number.POSITIVE_INFINITY;
    return Math.ceil((client.sinceMs + sessionMs - this.#nowMs) / 1000);
  }

  /** A lease is confirmed. */
  start(mac: Uint8Array, tags: number, address: number): void {
    const client = this.#find(mac, tags);
    if (client !== undefined) this.#radius.start(client.index, address);
  }

  /** A lease is over: the client is asked about again when it comes back. */
  end(mac: Uint8Array, tags: number, isReleased: boolean): void {
    const client = this.#find(mac, tags);
    if (client === undefined || client.state !== 'granted') return;
    this.#radius.end(client.index, isReleased ? 'logoff' : 'DHCP: lease expired');
    Object.assign(client, { state: 'refused', untilMs: 0 });
  }

  endAll(): void {
    for (const { index } of this.clients) this.#radius.end(index, 'stopped');
  }

  #find(mac: Uint8Array, tags: number): AdmittedClient | undefined {
    return this.#byKey.get(`${formatMac(mac)} ${tags}`);
  }

  #add(mac: Uint8Array, tags: number): AdmittedClient | undefined {
    if (this.clients.length >= maxAdmitted) return undefined;
    const client: AdmittedClient = {
      ...{ index: this.clients.length, mac: copyOf(mac), tags, state: 'refused', lastError: '' },
      ...{ message: undefined, untilMs: 0, sinceMs: 0 },
    };
    this.clients.push(client);
    this.#byKey.set(`${formatMac(mac)} ${tags}`, client);
    return client;
  }

  #ask(client: AdmittedClient, message: Uint8Array): void {
    Object.assign(client, { state: 'asked', message });
    const userName = formatMac(client.mac);
    const value = encoder.encode(userName);
    const question = { userName, method: authMethod.pap, id: 0, challenge: noChallenge, value };
    this.#radius.ask(client.index, question, ({ isGood, cause }) => {
      client.state = isGood ? 'granted' : 'refused';
      client.lastError = isGood ? '' : cause;
      // A server that is silent is asked again by the next message.
      client.untilMs = cause === 'RADIUS: no answer' ? 0 : this.#nowMs + refusalMs;
      client.sinceMs = this.#nowMs;
      client.message = undefined;
      this.#host.onChange(client);
      if (isGood) this.#host.replay(new Memory(message), client.tags);
    });
  }
}

export const maxAdmitted = 100_000;

/** A message of DHCP with the MAC of its sender before it. */
export const messageToKeep = (memory: Memory, macAt: number, start: number, end: number): Uint8Array => {
  const bytes = new Uint8Array(macBytes + end - start);
  copyMac(memory.bytes, macAt, bytes, 0);
  bytes.set(memory.bytes.subarray(start, end), macBytes);
  return bytes;
};
