import { copyOf } from '../../bytes/memory.ts';
import type { MessageWriter } from '../message-writer.ts';
import { lsaHeaderBytes } from './lsa.ts';
import { agedLsa, type StoredLsa } from './lsdb.ts';
import type { OspfOptions } from './options.ts';
import { ospfHeaderBytes, ospfType, writeAcknowledgement, writeOspf, writeUpdate } from './packet.ts';

const ipBytes = 20;
const authenticationBytes = 32;

/** Packs LSAs and acknowledgements into packets no larger than the MTU. */
export class OspfOutput {
  now = 0;
  readonly #options: OspfOptions;
  readonly #transmit: (bytes: Uint8Array, destination: number) => void;
  readonly #room: number;
  #acknowledgements: Uint8Array[] = [];
  #sequence = 0;

  constructor(options: OspfOptions, transmit: (bytes: Uint8Array, destination: number) => void) {
    this.#options = options;
    this.#transmit = transmit;
    this.#room = options.mtu - ipBytes - ospfHeaderBytes - authenticationBytes;
  }

  send(type: number, write: (writer: MessageWriter) => void, destination: number): void {
    const { routerId, areaId, authentication } = this.#options;
    this.#sequence = Math.max(this.#sequence + 1, Math.floor(this.now / 1000)) >>> 0;
    this.#transmit(
      writeOspf({ type, routerId, areaId }, authentication, { sequence: this.#sequence, write }),
      destination,
    );
  }

  updates(entries: readonly StoredLsa[], destination: number): void {
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

  flush(destination: number): void {
    const each = Math.floor(this.#room / lsaHeaderBytes);
    const headers = this.#acknowledgements;
    this.#acknowledgements = [];
    for (let from = 0; from < headers.length; from += each)
      this.send(ospfType.acknowledgement, writeAcknowledgement(headers.slice(from, from + each)), destination);
  }
}
