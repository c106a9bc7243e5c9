import type { TcpServerConfig } from '@rushhour/protocol';
import type { Counter, Gauge, Samples } from '../../engine.ts';
import { countError } from '../../net/metrics/count-error.ts';
import type { Chunk, Connection, ConnectionEvents, Message } from '../../net/transport/transport.ts';

export interface TcpServerDeps {
  readonly config: TcpServerConfig;
  readonly samples: Samples;
  readonly payload: Message;
  readonly meters: {
    readonly accepted: Counter;
    readonly active: Gauge;
    readonly txBytes: Counter;
    readonly rxBytes: Counter;
  };
}

/** One connection that was accepted. */
export class TcpServerConnection implements ConnectionEvents {
  /** In mode source only: what was sent makes room for more. */
  readonly onSent?: () => void;
  readonly #connection: Connection;
  readonly #deps: TcpServerDeps;
  #hasEnded = false;

  constructor(connection: Connection, deps: TcpServerDeps) {
    this.#connection = connection;
    this.#deps = deps;
    deps.meters.accepted.add(1);
    deps.meters.active.add(1);
    if (deps.config.mode !== 'source') return;
    this.onSent = () => {
      deps.meters.txBytes.add(deps.payload.bytes.length);
      if (!this.#hasEnded) connection.write(deps.payload);
    };
    connection.write(deps.payload);
  }

  onOpen(): void {}

  onData({ bytes, start, end }: Chunk): void {
    const { meters, config } = this.#deps;
    meters.rxBytes.add(end - start);
    if (config.mode !== 'echo') return;
    meters.txBytes.add(end - start);
    this.#connection.writeCopy(bytes.subarray(start, end));
  }

  onEnd(): void {
    this.#hasEnded = true;
    if (this.#deps.config.closeMode === 'rst') this.#connection.reset();
    else this.#connection.close();
  }

  onClose(code: string | undefined): void {
    const { samples, meters } = this.#deps;
    if (code !== undefined) countError(samples, 'tcp', code);
    meters.active.add(-1);
  }
}
