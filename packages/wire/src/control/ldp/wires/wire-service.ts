import { formatIpv4 } from '../../../ip/address.ts';
import type { MessageWriter } from '../../message-writer.ts';
import type { LdpExtension, LdpTaken } from '../extension.ts';
import type { LdpNeighbour } from '../neighbour.ts';
import { findTlv, type LdpMessage, ldpStatus, ldpTlv, ldpType, requireTlv, writeTlv } from '../pdu.ts';
import type { LdpDraft } from '../session.ts';
import { mtuOf, parseWireFec, type WireChecks, type WireFec, writeWireFec, writeWireParameters } from './wire-fec.ts';
import type { WireNames } from './wire-names.ts';
import { WireTable, wireStatus } from './wire-table.ts';

export interface WireServiceOptions {
  readonly names: WireNames;
  readonly wireType: number;
  /** Wires to each neighbour. */
  readonly count: number;
  readonly mtu: number;
  readonly hasControlWord: boolean;
  readonly groupId: number;
  readonly firstLabel: number;
  /** Addresses or LSR ids of the neighbours; none: the one that comes up first. */
  readonly peers: readonly string[];
  readonly hasStatus: boolean;
  /** The wires are the spare ones of pairs (RFC 6870). */
  readonly isStandby: boolean;
  readonly checks: WireChecks | undefined;
  /** Neighbours forget the addresses that they have learned from a wire that goes down (RFC 4762). */
  readonly withdrawsAddresses: boolean;
}

interface Slot {
  neighbour: LdpNeighbour | undefined;
  /** Wires that messages are due about, in order. */
  readonly queue: number[];
  next: number;
}

const firstReservedFree = 16;
const lastLabel = 0xfffff;
const unknownBit = 0x8000;
const wildcardElement = 1;

/** Pseudowires to one or more neighbours, signalled by LDP (RFC 8077). Wire `slot * count + i` is number i of a neighbour. */
export class WireService implements LdpExtension {
  readonly capabilities = [];
  readonly counters = { sent: 0, received: 0, flaps: 0, addressWithdrawals: 0 };
  readonly wires: WireTable;
  readonly #options: WireServiceOptions;
  readonly #slots: Slot[];

  constructor(options: WireServiceOptions) {
    const slots = Math.max(1, options.peers.length);
    const { firstLabel, count } = options;
    if (firstLabel < firstReservedFree || firstLabel + slots * count - 1 > lastLabel)
      throw new RangeError('there are too few labels');
    this.#options = options;
    this.wires = new WireTable(slots * count, options.hasControlWord);
    this.#slots = Array.from({ length: slots }, () => ({ neighbour: undefined, queue: [], next: 0 }));
  }

  onUp(neighbour: LdpNeighbour): void {
    const slot = this.#slots[this.#slotFor(neighbour)];
    if (slot === undefined) return;
    slot.neighbour = neighbour;
    this.#queueAll(slot);
  }

  onDown(neighbour: LdpNeighbour): void {
    const index = this.#slots.findIndex((one) => one.neighbour === neighbour);
    const slot = this.#slots[index];
    if (slot === undefined) return;
    const { count } = this.#options;
    slot.neighbour = undefined;
    slot.queue.length = 0;
    slot.next = 0;
    for (let wire = index * count; wire < (index + 1) * count; wire++) this.wires.reset(wire);
  }

  onRoom(neighbour: LdpNeighbour): void {
    const slot = this.#slots.find((one) => one.neighbour === neighbour);
    if (slot !== undefined) this.#drain(slot);
  }

  /** Interrupts number i of every neighbour, or brings it back. */
  setDown(number: number, isDown: boolean): void {
    const { count } = this.#options;
    for (const [index, slot] of this.#slots.entries()) {
      const wire = index * count + number;
      if (this.wires.isDown(wire) === isDown) continue;
      this.wires.setDown(wire, isDown);
      if (isDown) this.counters.flaps++;
      if (slot.neighbour === undefined) continue;
      slot.queue.push(wire);
      this.#drain(slot);
    }
  }

  get neighbours(): readonly (LdpNeighbour | undefined)[] {
    return this.#slots.map(({ neighbour }) => neighbour);
  }

  /** How a wire is: `up`, or why it is not. */
  stateOf(wire: number): string {
    const { mtu } = this.#options;
    const { wires } = this;
    if (this.#slots[Math.floor(wire / this.#options.count)]?.neighbour === undefined) return 'no neighbour';
    if (wires.isDown(wire)) return 'interrupted';
    if (wires.label[wire] === -1) return 'no label';
    if (wires.mtu[wire] !== 0 && wires.mtu[wire] !== mtu) return `other MTU ${wires.mtu[wire]}`;
    if (wires.hasRemoteControlWord(wire) !== wires.hasControlWord(wire)) return 'other control word';
    const status = wires.status[wire] as number;
    if ((status & ~wireStatus.standby) !== 0) return 'fault of the neighbour';
    return (status & wireStatus.standby) !== 0 || this.#options.isStandby ? 'standby' : 'up';
  }

  /** The label of a wire that the neighbour expects, -1 for none. */
  labelOf(wire: number): number {
    return this.wires.label[wire] as number;
  }

  /** The label of a wire that we expect. */
  ownLabelOf(wire: number): number {
    return this.#options.firstLabel + wire;
  }

  take(neighbour: LdpNeighbour, message: LdpMessage): LdpTaken {
    const value = findTlv(message, ldpTlv.fec, 1);
    const fec = value && parseWireFec(value);
    if (fec === undefined) {
      if (message.type === ldpType.labelWithdraw && value?.getUint8(0) === wildcardElement) this.#forgetAll(neighbour);
      return undefined;
    }
    const wires = this.#wiresOf(neighbour, fec);
    for (const wire of wires) this.#takeFor(wire, neighbour, fec, message);
    return wires.length > 0 ? 'taken' : 'known';
  }

  #takeFor(wire: number, neighbour: LdpNeighbour, fec: WireFec, message: LdpMessage): void {
    const status = findTlv(message, ldpTlv.wireStatus, 4)?.getUint32(0);
    if (message.type === ldpType.labelMapping) this.#takeMapping(wire, neighbour, fec, message);
    else if (message.type === ldpType.labelWithdraw) this.wires.label[wire] = -1;
    else if (message.type === ldpType.labelRequest) this.#announce(wire);
    else if (message.type === ldpType.notification && status !== undefined) this.wires.status[wire] = status;
    else if (message.type === ldpType.addressWithdraw) this.counters.addressWithdrawals++;
  }

  #takeMapping(wire: number, neighbour: LdpNeighbour, fec: WireFec, message: LdpMessage): void {
    const parameters = findTlv(message, ldpTlv.interfaceParameters, 0);
    const status = findTlv(message, ldpTlv.wireStatus, 4)?.getUint32(0);
    const { wires } = this;
    this.counters.received++;
    wires.label[wire] = requireTlv(message, ldpTlv.label, 4).getUint32(0);
    wires.mtu[wire] = parameters === undefined ? fec.mtu : mtuOf(parameters, 0, parameters.byteLength);
    wires.group[wire] = findTlv(message, ldpTlv.wireGroup, 4)?.getUint32(0) ?? fec.groupId;
    wires.status[wire] = status ?? 0;
    wires.setRemote(wire, { hasStatus: status !== undefined, hasControlWord: fec.hasControlWord });
    if (fec.hasControlWord || !wires.hasControlWord(wire)) return;
    // The end that wants the control word gives way (RFC 8077, section 7.2).
    if (wires.isAnnounced(wire)) neighbour.session?.sendSeries(once(this.#withdrawal(wire, neighbour, true)));
    wires.dropControlWord(wire);
    this.#announce(wire);
  }

  #forgetAll(neighbour: LdpNeighbour): void {
    const { count } = this.#options;
    const slot = this.#slots.findIndex((one) => one.neighbour === neighbour);
    if (slot >= 0) this.wires.label.fill(-1, slot * count, (slot + 1) * count);
  }

  /** Wires of ours that a FEC of a neighbour means. */
  #wiresOf(neighbour: LdpNeighbour, fec: WireFec): number[] {
    const { count, wireType, names } = this.#options;
    const slot = this.#slots.findIndex((one) => one.neighbour === neighbour);
    if (slot < 0 || fec.wireType !== wireType) return [];
    if (fec.name !== undefined) {
      const number = names.indexOf(fec.name, neighbour.lsrId);
      return number >= 0 && number < count ? [slot * count + number] : [];
    }
    const all = Array.from({ length: count }, (_, i) => slot * count + i);
    return all.filter((wire) => this.wires.label[wire] !== -1 && this.wires.group[wire] === fec.groupId);
  }

  #slotFor(neighbour: LdpNeighbour): number {
    const { peers } = this.#options;
    if (peers.length === 0) return this.#slots[0]?.neighbour === undefined ? 0 : -1;
    return peers.findIndex((peer) => peer === formatIpv4(neighbour.lsrId) || peer === neighbour.transport);
  }

  #queueAll(slot: Slot): void {
    const { count } = this.#options;
    const first = this.#slots.indexOf(slot) * count;
    for (let i = 0; i < count; i++) if (!this.wires.isDown(first + i)) slot.queue.push(first + i);
  }

  #announce(wire: number): void {
    const slot = this.#slots[Math.floor(wire / this.#options.count)];
    if (slot?.neighbour === undefined) return;
    slot.queue.push(wire);
    this.#drain(slot);
  }

  #drain(slot: Slot): void {
    const { neighbour, queue } = slot;
    const drafts: LdpDraft[] = [];
    neighbour?.session?.sendSeries(() => {
      while (drafts.length === 0 && slot.next < queue.length)
        drafts.push(...this.#drafts(queue[slot.next++] as number, neighbour));
      return drafts.shift();
    });
    if (slot.next < queue.length) return;
    queue.length = 0;
    slot.next = 0;
  }

  /** Messages that the neighbour needs about a wire. */
  #drafts(wire: number, neighbour: LdpNeighbour): LdpDraft[] {
    const { wires } = this;
    const { withdrawsAddresses, hasStatus } = this.#options;
    const isDown = wires.isDown(wire);
    const knowsStatus = hasStatus && wires.hasRemoteStatus(wire) && wires.isAnnounced(wire);
    const addresses = isDown && withdrawsAddresses ? [this.#addressWithdrawal(wire, neighbour)] : [];
    if (isDown && !knowsStatus) {
      wires.setAnnounced(wire, false);
      return [...addresses, this.#withdrawal(wire, neighbour, false)];
    }
    if (knowsStatus && wires.isStatusDown(wire) !== isDown) {
      wires.setStatusDown(wire, isDown);
      return [...addresses, this.#statusOf(wire, neighbour)];
    }
    wires.setAnnounced(wire, true);
    this.counters.sent++;
    return [this.#mapping(wire, neighbour)];
  }

  #fecOf(wire: number, { lsrId }: LdpNeighbour, mtu: number): WireFec {
    const { names, wireType, groupId, count } = this.#options;
    const name = names.nameOf(wire % count, lsrId);
    return { wireType, groupId, mtu, name, hasControlWord: this.wires.hasControlWord(wire) };
  }

  #ownStatusOf(wire: number): number {
    const standby = this.#options.isStandby ? wireStatus.standby : 0;
    return standby | (this.wires.isDown(wire) ? wireStatus.notForwarding : 0);
  }

  #mapping(wire: number, neighbour: LdpNeighbour): LdpDraft {
    const { mtu, hasStatus, checks } = this.#options;
    const fec = this.#fecOf(wire, neighbour, mtu);
    return {
      type: ldpType.labelMapping,
      write: (writer) => {
        writeWireFec(writer, fec, checks);
        writeTlv(writer, ldpTlv.label, () => writer.u32(this.ownLabelOf(wire)));
        if (hasStatus) writeTlv(writer, ldpTlv.wireStatus | unknownBit, () => writer.u32(this.#ownStatusOf(wire)));
        writeWireParameters(writer, fec, checks);
      },
    };
  }

  #withdrawal(wire: number, neighbour: LdpNeighbour, isWrongWord: boolean): LdpDraft {
    const fec = this.#fecOf(wire, neighbour, 0);
    return {
      type: ldpType.labelWithdraw,
      write: (writer) => {
        writeWireFec(writer, fec);
        writeTlv(writer, ldpTlv.label, () => writer.u32(this.ownLabelOf(wire)));
        if (isWrongWord) writeStatus(writer, ldpStatus.wrongControlWord);
      },
    };
  }

  #statusOf(wire: number, neighbour: LdpNeighbour): LdpDraft {
    const fec = this.#fecOf(wire, neighbour, 0);
    const status = this.#ownStatusOf(wire);
    return {
      type: ldpType.notification,
      write: (writer) => {
        writeStatus(writer, ldpStatus.wireStatus);
        writeTlv(writer, ldpTlv.wireStatus, () => writer.u32(status));
        writeWireFec(writer, fec);
      },
    };
  }

  /** An empty list: all addresses of the wire. */
  #addressWithdrawal(wire: number, neighbour: LdpNeighbour): LdpDraft {
    const fec = this.#fecOf(wire, neighbour, 0);
    return {
      type: ldpType.addressWithdraw,
      write: (writer) => {
        writeWireFec(writer, fec);
        writeTlv(writer, ldpTlv.macList | unknownBit, () => {});
      },
    };
  }
}

/** A series of one message. */
const once = (draft: LdpDraft): (() => LdpDraft | undefined) => {
  let next: LdpDraft | undefined = draft;
  return () => {
    const taken = next;
    next = undefined;
    return taken;
  };
};

/** An advisory status about no message. */
const writeStatus = (writer: MessageWriter, status: number): void =>
  writeTlv(writer, ldpTlv.status, () => writer.u32(status).u32(0).u16(0));
