import { EventEmitter } from 'node:events';
import { formatAddress } from '@rushhour/wire';
import type { DatagramEvents, DatagramSocket, DatagramTransport } from '../net/datagram/datagram-transport.ts';
import { flowOf } from './stack-datagrams.ts';

const options = { sendBatch: { count: 1, bytes: 65_535 }, receiveBufferBytes: 0 };

type Done = (error: Error | null) => void;

/** A datagram socket of emulated hosts in the shape of Node's own, as far as engines use it. */
export class NodeDatagramSocket extends EventEmitter implements DatagramEvents {
  readonly #datagrams: DatagramTransport;
  readonly #done = new Map<number, Done>();
  /** How peers of a bound socket are answered, by address and port. */
  readonly #replies = new Map<string, ReturnType<DatagramSocket['createReply']>>();
  #local = { address: '0.0.0.0', port: 0 };
  #socket: DatagramSocket | undefined;
  #token = 0;

  constructor(datagrams: DatagramTransport) {
    super();
    this.#datagrams = datagrams;
  }

  /** With a port: receives datagrams to it. Without one: the address is used by `connect`. */
  bind(from: { readonly address?: string; readonly port?: number } = {}, onBound?: () => void): this {
    this.#local = { address: from.address ?? '0.0.0.0', port: from.port ?? 0 };
    if (onBound !== undefined) this.once('listening', onBound);
    queueMicrotask(() => this.emit('listening'));
    return this;
  }

  /** Receives datagrams to a port of the hosts. */
  async listen({ host, port }: { readonly host: string; readonly port: number }): Promise<void> {
    this.#local = { address: host, port };
    this.#socket = await this.#datagrams.bind({ host, port, isShared: false }, options, () => this);
  }

  connect(port: number, address: string, onConnected?: () => void): void {
    if (onConnected !== undefined) this.once('connect', onConnected);
    const { address: localAddress, port: localPort } = this.#local;
    const from = { ...(localAddress !== '0.0.0.0' && { localAddress }), ...(localPort > 0 && { localPort }) };
    this.#datagrams.connect({ address, port, ...from }, options, this).then(
      (socket) => {
        this.#socket = socket;
        const { localAddress: own, localPort: ownPort } = flowOf(socket);
        this.#local = { address: own, port: ownPort };
        this.emit('connect');
      },
      (error: Error) => this.emit('error', error),
    );
  }

  address(): { readonly address: string; readonly port: number; readonly family: string } {
    return { ...this.#local, family: this.#local.address.includes(':') ? 'IPv6' : 'IPv4' };
  }

  send(bytes: Uint8Array, ...rest: [number, string, Done?] | [Done?]): void {
    const done = rest.find((one) => typeof one === 'function') as Done | undefined;
    const token = this.#token++;
    if (done !== undefined) this.#done.set(token, done);
    const [port, address] = rest;
    if (typeof port !== 'number') this.#socket?.send(bytes, token);
    else {
      const reply = this.#replies.get(`${address} ${port}`);
      if (reply === undefined) this.onFail(token, 'EHOSTUNREACH');
      else reply(bytes, token);
    }
  }

  close(onClosed?: () => void): void {
    this.#replies.clear();
    void this.#datagrams.close().then(() => {
      this.emit('close');
      onClosed?.();
    });
  }

  onMessage(datagram: Parameters<DatagramEvents['onMessage']>[0]): void {
    const { key } = datagram as typeof datagram & { readonly key: Int32Array };
    const [address, port] = [formatAddress(key, 4), (key[8] as number) & 0xffff];
    const peer = `${address} ${port}`;
    if (this.#socket !== undefined && !this.#replies.has(peer)) {
      this.#replies.set(peer, this.#socket.createReply(datagram));
      this.#local = { address: formatAddress(key, 0), port: (key[8] as number) >>> 16 };
    }
    const bytes = Buffer.from(datagram.bytes.subarray(datagram.start, datagram.end));
    this.emit('message', bytes, { address, port, family: address.includes(':') ? 'IPv6' : 'IPv4', size: bytes.length });
  }

  onSent(token: number): void {
    this.#settle(token, null);
  }

  onFail(token: number, code: string): void {
    this.#settle(token, Object.assign(new Error(`send ${code}`), { code }));
  }

  onError(code: string): void {
    this.emit('error', Object.assign(new Error(`receive ${code}`), { code }));
  }

  #settle(token: number, error: Error | null): void {
    const done = this.#done.get(token);
    this.#done.delete(token);
    done?.(error);
  }
}
