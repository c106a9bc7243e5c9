import { formatIpv4 } from '../../../ip/address.ts';
import type { LdpExtension, LdpTaken } from '../extension.ts';
import type { LdpNeighbour } from '../neighbour.ts';
import { findTlv, type LdpMessage, ldpTlv, ldpType, requireTlv, writeTlv } from '../pdu.ts';
import type { LdpDraft } from '../session.ts';
import { parseTreeFec, type TreeFec, type TreeName, treeElement, writeTreeFec } from './tree-fec.ts';

export interface TreeServiceOptions {
  readonly role: 'leaf' | 'root' | 'transit';
  /** Every member may send (MP2MP). */
  readonly isMutual: boolean;
  readonly root: number;
  readonly count: number;
  /** The name of the first tree; the others have the following ids or groups. */
  readonly first: TreeName;
  readonly firstLabel: number;
  /** How long the branch to a former upstream router is kept. */
  readonly keepMs: number;
}

/** Names of trees with the same root follow each other. */
const nameAfter = (first: TreeName, index: number): TreeName =>
  first.kind === 'id' ? { kind: 'id', id: first.id + index } : { ...first, group: first.group + index };

const indexOf = (first: TreeName, name: TreeName): number => {
  if (first.kind === 'id') return name.kind === 'id' ? name.id - first.id : -1;
  return name.kind === 'stream' && name.source === first.source ? name.group - first.group : -1;
};

const lastLabel = 0xfffff;

/** A queue of drafts for one neighbour. */
interface Branch {
  readonly drafts: (() => LdpDraft)[];
  next: number;
}

/** Multicast trees of a label switching router (RFC 6388). */
export class TreeService implements LdpExtension {
  readonly capabilities: readonly number[];
  readonly counters = { sent: 0, received: 0, flaps: 0 };
  /** Labels of the routers below, by tree. */
  readonly below: Map<LdpNeighbour, number>[];
  /** Labels towards the root, of trees where every member may send. */
  readonly towardsRoot: Int32Array;
  readonly #options: TreeServiceOptions;
  readonly #down: Uint8Array;
  readonly #joined: Uint8Array;
  readonly #branches = new Map<LdpNeighbour, Branch>();
  #upstream: LdpNeighbour | undefined;
  /** The upstream router before, and when its branch is given up. */
  #former: { readonly neighbour: LdpNeighbour; readonly until: number } | undefined;

  constructor(options: TreeServiceOptions) {
    if (options.firstLabel + options.count - 1 > lastLabel) throw new RangeError('there are too few labels');
    this.#options = options;
    this.below = Array.from({ length: options.count }, () => new Map());
    this.towardsRoot = new Int32Array(options.count).fill(-1);
    this.#down = new Uint8Array(options.count);
    this.#joined = new Uint8Array(options.count);
    this.capabilities = [options.isMutual ? ldpTlv.multipointToMultipoint : ldpTlv.pointToMultipoint];
  }

  get upstream(): LdpNeighbour | undefined {
    return this.#upstream;
  }

  isJoined(tree: number): boolean {
    return this.#joined[tree] === 1;
  }

  onUp(neighbour: LdpNeighbour, now: number): void {
    this.#branches.set(neighbour, { drafts: [], next: 0 });
    this.#choose(now);
  }

  onDown(neighbour: LdpNeighbour, now: number): void {
    this.#branches.delete(neighbour);
    if (this.#former?.neighbour === neighbour) this.#former = undefined;
    for (let tree = 0; tree < this.#options.count; tree++) {
      const wasThere = this.below[tree]?.delete(neighbour) === true;
      if (wasThere) this.#follow(tree);
    }
    if (this.#upstream === neighbour) this.#leaveUpstream();
    this.#choose(now);
    if (this.#upstream !== undefined) this.onRoom(this.#upstream);
  }

  onRoom(neighbour: LdpNeighbour): void {
    const branch = this.#branches.get(neighbour);
    if (branch === undefined) return;
    neighbour.session?.sendSeries(() => branch.drafts[branch.next++]?.());
    branch.next = Math.min(branch.next, branch.drafts.length);
    if (branch.next < branch.drafts.length) return;
    branch.drafts.length = 0;
    branch.next = 0;
  }

  advance(now: number): void {
    const former = this.#former;
    if (former === undefined || now < former.until) return;
    this.#former = undefined;
    for (let tree = 0; tree < this.#options.count; tree++)
      if (this.isJoined(tree)) this.#queue(former.neighbour, () => this.#withdrawal(tree));
    this.onRoom(former.neighbour);
  }

  /** Cuts the branch of a tree, or grows it again. */
  setDown(tree: number, isDown: boolean): void {
    if ((this.#down[tree] === 1) === isDown) return;
    this.#down[tree] = isDown ? 1 : 0;
    if (isDown) this.counters.flaps++;
    this.#follow(tree);
  }

  labelOf(tree: number): number {
    return this.#options.firstLabel + tree;
  }

  nameOf(tree: number): TreeName {
    return nameAfter(this.#options.first, tree);
  }

  take(neighbour: LdpNeighbour, message: LdpMessage): LdpTaken {
    const value = findTlv(message, ldpTlv.fec, 1);
    const fec = value && parseTreeFec(value);
    if (fec === undefined) return undefined;
    const tree = this.#treeOf(fec);
    if (tree < 0) return 'known';
    if (message.type === ldpType.labelMapping) {
      this.counters.received++;
      this.#setLabel(neighbour, fec, tree, requireTlv(message, ldpTlv.label, 4).getUint32(0));
    } else if (message.type === ldpType.labelWithdraw) this.#setLabel(neighbour, fec, tree, -1);
    return 'taken';
  }

  #treeOf({ root, name, element }: TreeFec): number {
    const { isMutual, first, count } = this.#options;
    if (name === undefined || root !== this.#options.root) return -1;
    if (isMutual === (element === treeElement.pointToMultipoint)) return -1;
    const tree = indexOf(first, name);
    return tree < count ? tree : -1;
  }

  #setLabel(neighbour: LdpNeighbour, { element }: TreeFec, tree: number, label: number): void {
    if (element === treeElement.upstream) {
      if (neighbour === this.#upstream) this.towardsRoot[tree] = label;
      return;
    }
    const below = this.below[tree];
    if (this.#options.role === 'leaf' || below === undefined) return;
    if (label === -1) below.delete(neighbour);
    else below.set(neighbour, label);
    if (element === treeElement.downstream)
      this.#queue(neighbour, () => this.#draft(tree, treeElement.upstream, label !== -1));
    this.onRoom(neighbour);
    this.#follow(tree);
  }

  /** The neighbour that is the root itself, otherwise that with the lowest LSR id. */
  #choose(now: number): void {
    const { role, root, keepMs } = this.#options;
    if (role === 'root') return;
    const all = [...this.#branches.keys()].sort((a, b) => a.lsrId - b.lsrId);
    const best = all.find((one) => one.lsrId === root || one.transport === formatIpv4(root)) ?? all[0];
    if (best === this.#upstream) return;
    if (this.#upstream !== undefined) this.#former = { neighbour: this.#upstream, until: now + keepMs };
    this.#upstream = best;
    this.#joined.fill(0);
    this.towardsRoot.fill(-1);
    for (let tree = 0; tree < this.#options.count; tree++) this.#join(tree);
  }

  #leaveUpstream(): void {
    this.#upstream = undefined;
    this.#joined.fill(0);
    this.towardsRoot.fill(-1);
  }

  /** The branch to the root is there while it is needed. */
  #follow(tree: number): void {
    const isWanted = this.#isWanted(tree);
    if (this.#upstream === undefined || this.isJoined(tree) === isWanted) return;
    if (isWanted) this.#join(tree);
    else {
      this.#joined[tree] = 0;
      this.#queue(this.#upstream, () => this.#withdrawal(tree));
    }
    this.onRoom(this.#upstream);
  }

  #isWanted(tree: number): boolean {
    const { role } = this.#options;
    const hasBelow = [...(this.below[tree]?.keys() ?? [])].some((one) => one !== this.#upstream);
    return this.#down[tree] === 0 && (role === 'leaf' || (role === 'transit' && hasBelow));
  }

  #join(tree: number): void {
    if (this.#upstream === undefined || !this.#isWanted(tree)) return;
    this.#joined[tree] = 1;
    this.counters.sent++;
    this.#queue(this.#upstream, () => this.#draft(tree, this.#element, true));
  }

  get #element(): number {
    return this.#options.isMutual ? treeElement.downstream : treeElement.pointToMultipoint;
  }

  #queue(neighbour: LdpNeighbour, draft: () => LdpDraft): void {
    this.#branches.get(neighbour)?.drafts.push(draft);
  }

  #withdrawal(tree: number): LdpDraft {
    return this.#draft(tree, this.#element, false);
  }

  #draft(tree: number, element: number, isMapping: boolean): LdpDraft {
    return {
      type: isMapping ? ldpType.labelMapping : ldpType.labelWithdraw,
      write: (writer) => {
        writeTreeFec(writer, element, this.#options.root, this.nameOf(tree));
        writeTlv(writer, ldpTlv.label, () => writer.u32(this.labelOf(tree)));
      },
    };
  }
}
