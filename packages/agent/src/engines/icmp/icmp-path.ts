import type { IcmpClientConfig } from '@rushhour/protocol';
import {
  createIcmpRequest,
  formatAddress,
  type IcmpMessage,
  type IcmpRequest,
  icmpRequests,
  type Memory,
  type Packet,
} from '@rushhour/wire';
import { SourceUse } from '../../net/addresses/source-addresses.ts';
import type { HostNetwork } from '../../net/host-network.ts';
import type { IcmpResponse } from '../../net/icmp/icmp-message.ts';
import { type Chooser, chooserOf } from '../../net/load/rotation.ts';
import type { IcmpTarget } from './meters.ts';

export interface IcmpPathEvents {
  /** Valid during the call only. */
  onResponse(response: IcmpResponse, now: number): void;
  /** The message with this sequence number was not sent. */
  onFail(sequence: number, code: string): void;
  onError(code: string): void;
}

/** Sends the messages of a client. */
export interface IcmpPath {
  send(target: IcmpTarget, identifier: number, sequence: number): void;
  close(): void;
}

const millisecondsOfDay = 86_400_000;
const maxUnnumbered = 1024;
const timeExceeded = [11, 3] as const;

/** Messages of emulated hosts: each comes from the next host. */
export class HostIcmpPath implements IcmpPath {
  readonly #config: IcmpClientConfig;
  readonly #events: IcmpPathEvents;
  readonly #icmp: ReturnType<HostNetwork['createIcmp']>;
  readonly #chooseHost: Chooser<{ readonly host: number; readonly address: string }>;
  readonly #use: SourceUse;
  readonly #note: (remark: string) => void;
  readonly #isV6: boolean;
  readonly #response: IcmpResponse = { kind: 'none', reason: '', identifier: -1, sequence: 0 };
  /** Echo requests differ in numbers and addresses only: their body is made once. */
  #echo: IcmpRequest | undefined;
  /** Messages without numbers, oldest first, by the address of their target. */
  readonly #unnumbered = new Map<string, number[]>();
  readonly #mac = new Uint8Array(6);
  readonly #source = new Int32Array(4);

  constructor(
    config: IcmpClientConfig,
    network: HostNetwork,
    { isV6, events, note }: { isV6: boolean; events: IcmpPathEvents; note: (remark: string) => void },
  ) {
    this.#config = config;
    this.#events = events;
    this.#isV6 = isV6;
    this.#note = note;
    const hosts = network.addresses.map((address, host) => ({ address, host, weight: 1 }));
    const fitting = hosts.filter(({ address }) => address.includes(':') === isV6);
    if (fitting.length === 0) throw new RangeError(`no emulated host has an IPv${isV6 ? 6 : 4} address`);
    this.#use = new SourceUse(fitting.length);
    this.#chooseHost = chooserOf(fitting, config.sourceRotation);
    this.#icmp = network.createIcmp({
      onMessage: (packet, message, memory) => this.#receive(packet, message, memory),
      onUnreachable: ({ word }) => events.onFail(word & 0xffff, 'EHOSTUNREACH'),
    });
  }

  send({ address, words }: IcmpTarget, identifier: number, sequence: number): void {
    const { messageType } = this.#config;
    const { host, address: source } = this.#chooseHost(0);
    this.#use.take(source);
    const request = this.#requestTo(words, host);
    if (!icmpRequests[messageType].isNumbered) this.#remember(address, sequence);
    if (messageType === 'timestamp') new DataView(request.body.buffer).setInt32(0, Date.now() % millisecondsOfDay);
    const word = icmpRequests[messageType].isNumbered ? (identifier << 16) | sequence : request.word;
    const destination = messageType === 'echo' ? words : request.destination;
    if (!this.#icmp.send(host, destination, { ...request, word })) this.#events.onFail(sequence, 'ENOBUFS');
  }

  close(): void {
    this.#use.report(this.#note);
    this.#icmp.close();
  }

  #requestTo(target: Int32Array, host: number): IcmpRequest {
    const { messageType, payloadBytes } = this.#config;
    if (messageType === 'echo' && this.#echo !== undefined) return this.#echo;
    this.#icmp.writeAddress(host, this.#source, 0);
    this.#icmp.writeMac(host, this.#mac);
    const options = { source: this.#source, target, mac: this.#mac, size: payloadBytes };
    const request = createIcmpRequest(messageType, options);
    if (messageType === 'echo') this.#echo = request;
    return request;
  }

  #receive(packet: Packet, message: IcmpMessage, memory: Memory): void {
    const response = this.#response;
    const kind = icmpRequests[this.#config.messageType];
    const request = this.#isV6 ? kind.v6 : kind.v4;
    if (message.type === request?.reply) {
      response.kind = 'reply';
      if (kind.isNumbered) this.#readNumbers(message.word);
      else if (!this.#readSender(packet, message, memory)) return;
    } else if (!this.#readError(message, memory, request?.type ?? -1)) return;
    this.#events.onResponse(response, performance.now());
  }

  /** Sequence numbers come again after 65536 messages. */
  #remember(address: string, sequence: number): void {
    const sequences = this.#unnumbered.get(address) ?? [];
    this.#unnumbered.set(address, sequences);
    sequences.push(sequence);
    if (sequences.length > maxUnnumbered) sequences.shift();
  }

  #readNumbers(word: number): void {
    this.#response.identifier = word >>> 16;
    this.#response.sequence = word & 0xffff;
  }

  /** Advertisements have no numbers: they answer the oldest message to their sender, or to the address they name. */
  #readSender(packet: Packet, message: IcmpMessage, { view }: Memory): boolean {
    const sender = formatAddress(packet.addresses, 4);
    const isNeighbour = this.#config.messageType === 'neighbourSolicitation' && message.end - message.body >= 16;
    const words = Int32Array.from({ length: 4 }, (_, i) => (isNeighbour ? view.getInt32(message.body + i * 4) : 0));
    const sequence = this.#unnumbered.get(isNeighbour ? formatAddress(words) : sender)?.shift();
    if (sequence === undefined) return false;
    this.#response.identifier = -1;
    this.#response.sequence = sequence;
    return true;
  }

  /** An error quotes the IP header and the beginning of the message it is about. */
  #readError({ type, code, body, end }: IcmpMessage, { view }: Memory, requestType: number): boolean {
    const headerBytes = this.#isV6 ? 40 : body < end ? (view.getUint8(body) & 15) * 4 : 0;
    const quoted = body + headerBytes;
    if (quoted + 8 > end || view.getUint8(quoted) !== requestType) return false;
    this.#response.kind = 'refused';
    this.#response.reason = type === timeExceeded[this.#isV6 ? 1 : 0] ? 'timeExceeded' : String(code);
    this.#readNumbers(view.getInt32(quoted + 4));
    return true;
  }
}
