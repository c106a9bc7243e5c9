/** Bits of the status of a pseudowire (RFC 4446, section 3.5; RFC 6870). */
export const wireStatus = { notForwarding: 1, standby: 0x20 } as const;

const flag = {
  /** Interrupted on purpose. */
  down: 1,
  /** The neighbour has been given the label. */
  announced: 2,
  statusDown: 4,
  controlWord: 8,
  remoteStatus: 16,
  remoteControlWord: 32,
} as const;

/** What is known of many pseudowires. */
export class WireTable {
  readonly size: number;
  /** Labels of the neighbours, -1 for none. */
  readonly label: Int32Array;
  readonly mtu: Uint16Array;
  readonly group: Uint32Array;
  readonly status: Uint32Array;
  readonly #flags: Uint8Array;
  readonly #initial: number;

  constructor(size: number, hasControlWord: boolean) {
    this.size = size;
    this.label = new Int32Array(size).fill(-1);
    this.mtu = new Uint16Array(size);
    this.group = new Uint32Array(size);
    this.status = new Uint32Array(size);
    this.#initial = hasControlWord ? flag.controlWord : 0;
    this.#flags = new Uint8Array(size).fill(this.#initial);
  }

  /** The session has ended: only interruptions stay. */
  reset(wire: number): void {
    this.label[wire] = -1;
    this.status[wire] = 0;
    this.#flags[wire] = this.#initial | ((this.#flags[wire] as number) & flag.down);
  }

  isDown(wire: number): boolean {
    return this.#has(wire, flag.down);
  }

  setDown(wire: number, isDown: boolean): void {
    this.#set(wire, flag.down, isDown);
  }

  isAnnounced(wire: number): boolean {
    return this.#has(wire, flag.announced);
  }

  setAnnounced(wire: number, isAnnounced: boolean): void {
    this.#set(wire, flag.announced, isAnnounced);
    if (!isAnnounced) this.#set(wire, flag.statusDown, false);
  }

  /** The status that was sent last says that the wire does not forward. */
  isStatusDown(wire: number): boolean {
    return this.#has(wire, flag.statusDown);
  }

  setStatusDown(wire: number, isDown: boolean): void {
    this.#set(wire, flag.statusDown, isDown);
  }

  hasControlWord(wire: number): boolean {
    return this.#has(wire, flag.controlWord);
  }

  dropControlWord(wire: number): void {
    this.#set(wire, flag.controlWord, false);
  }

  hasRemoteStatus(wire: number): boolean {
    return this.#has(wire, flag.remoteStatus);
  }

  hasRemoteControlWord(wire: number): boolean {
    return this.#has(wire, flag.remoteControlWord);
  }

  setRemote(wire: number, remote: { readonly hasStatus: boolean; readonly hasControlWord: boolean }): void {
    this.#set(wire, flag.remoteStatus, remote.hasStatus);
    this.#set(wire, flag.remoteControlWord, remote.hasControlWord);
  }

  #has(wire: number, bit: number): boolean {
    return ((this.#flags[wire] as number) & bit) !== 0;
  }

  #set(wire: number, bit: number, isSet: boolean): void {
    this.#flags[wire] = isSet ? (this.#flags[wire] as number) | bit : (this.#flags[wire] as number) & ~bit;
  }
}
