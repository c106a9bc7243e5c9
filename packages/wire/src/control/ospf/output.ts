import { copyOf } from '../../bytes/memory.ts';
import type { MessageWriter } from '../message-writer.ts';
import { ospfType } from './format.ts';
import { lsaHeaderBytes } from './lsa.ts';
import { agedLsa, type StoredLsa } from './lsdb.ts';
import type { OspfOptions } from './options.ts';
import { writeAcknowledgement, writeUpdate } from './update.ts';

/** Packs LSAs and acknowledgements into packets no larger than the MTU. */
export class OspfOutput {
  now = 0;
  readonly #options: OspfOptions;
  readonly #transmit: (bytes: Uint8Array, destination: Int32Array) => void;
  readonly #room: number;
  #acknowledgements: Uint8Array[] = [];
  #sequence = 0;

  constructor(options: OspfOptions, transmit: (bytes: Uint8Array, destination: Int32Array) => void) {
    this.#options = options;
    this.#transmit = transmit;
    this.#room = options.mtu - options.format.overheadBytes;
  }

  send(type: number, write: (writer: MessageWriter) => void, destination: Int32Array): void {
    const { routerId, areaId, format } = this.#options;
    this.#sequence = Math.max(this.#sequence + 1, Math.floor(this.now / 1000)) >>> 0;
    const header = { type, routerId, areaId };
    this.#transmit(format.encode(header, write, { destination, sequence: this.#sequence }), destination);
  }

  updates(entries: readonly StoredLsa[], destination: Int32Array): void {
    let batch: Uint8Array[] = [];
    let size = 4;
    const flush = () => {
      if (batch.length > 0) this.send(ospfType.update, writeUpdate(batch), destination);
      batch = [];
      size = 4;
    };
    for (const entry of entries) {
      const lsa = agedLsa(entry, this.now);
      if (size + lsa.length > this.#room) flush();
      batch.push(lsa);
      size += lsa.length;
    }
    flush();
  }

  /** Acknowledges an LSA with the next `flush`. */
  acknowledge(lsa: Uint8Array): void {
    this.#acknowledgements.push(copyOf(lsa, 0, lsaHeaderBytes));
  }

  flush(destinations: readonly Int32Array[]): void {
    const each = Math.floor(this.#room / lsaHeaderBytes);
    const headers = this.#acknowledgements;
    this.#acknowledgements = [];
    for (let from = 0; from < headers.length; from += each)
      for (const destination of destinations)
        this.send(ospfType.acknowledgement, writeAcknowledgement(headers.slice(from, from + each)), destination);
  }
}
