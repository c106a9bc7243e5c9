import type { ResultRow } from '@rushhour/protocol';
import { type ChildSa, formatAddress, type IkeCause } from '@rushhour/wire';
import type { IpsecLink } from '../../stack/ipsec/ipsec-link.ts';
import { childCells, ikeCells } from './sa-text.ts';

/** Rows of a job; further SAs are counted by metrics only. */
const maxRows = 20_000;
/** Rows whose bytes and age are reported again in one go. */
const maxRefreshed = 500;

/** One child SA of a tunnel through all its rekeys. */
class SaRow {
  readonly index: number;
  readonly link: IpsecLink;
  readonly live = new Set<ChildSa>();
  newest: ChildSa | undefined;
  /** Bytes of child SAs that are gone. */
  readonly past = { tx: 0, rx: 0 };
  rekeys = 0;
  upMs = 0;
  cause = '';

  constructor(index: number, link: IpsecLink) {
    this.index = index;
    this.link = link;
  }

  rowAt(nowMs: number): ResultRow {
    const { link, live, newest, past, rekeys, cause } = this;
    const isUp = live.size > 0;
    const children = [...live];
    const sum = (bytesOf: (child: ChildSa) => number) => children.reduce((all, child) => all + bytesOf(child), 0);
    return {
      index: this.index,
      state: isUp ? 'up' : cause === '' ? 'down' : 'failed',
      cells: {
        peer: formatAddress(link.key, 4),
        local: formatAddress(link.key, 0),
        ...(link.sa !== undefined && ikeCells(link.sa)),
        ...(newest !== undefined && childCells(newest)),
        ageSec: isUp ? Math.max(0, Math.round((nowMs - this.upMs) / 1000)) : 0,
        rekeys,
        txBytes: past.tx + sum(({ outbound }) => outbound.counters.bytes),
        rxBytes: past.rx + sum(({ inbound }) => inbound.counters.bytes),
        cause,
      },
    };
  }
}

/** The security associations of a job, one row for each child SA of each tunnel. */
export class SaTable {
  readonly #rows: SaRow[] = [];
  readonly #byLink = new Map<IpsecLink, Map<number, SaRow>>();
  readonly #changed = new Set<SaRow>();
  #next = 0;

  onChildUp(link: IpsecLink, child: ChildSa, nowMs: number): void {
    const row = this.#rowOf(link, child.index);
    if (row === undefined) return;
    if (row.live.size === 0) row.upMs = nowMs;
    else row.rekeys++;
    row.live.add(child);
    row.newest = child;
    row.cause = '';
    this.#changed.add(row);
  }

  onChildDown(link: IpsecLink, child: ChildSa): void {
    const row = this.#byLink.get(link)?.get(child.index);
    if (row === undefined || !row.live.delete(child)) return;
    row.past.tx += child.outbound.counters.bytes;
    row.past.rx += child.inbound.counters.bytes;
    this.#changed.add(row);
  }

  onFailed(link: IpsecLink, cause: IkeCause): void {
    const row = this.#rowOf(link, 0);
    if (row === undefined) return;
    row.cause = cause;
    this.#changed.add(row);
  }

  /** Rows that have changed, and a part of the others with their newest bytes and age. */
  take(nowMs: number): ResultRow[] {
    const rows = this.#rows;
    for (let i = 0; i < Math.min(maxRefreshed, rows.length); i++) {
      this.#changed.add(rows[this.#next] as SaRow);
      this.#next = (this.#next + 1) % rows.length;
    }
    const taken = [...this.#changed].map((row) => row.rowAt(nowMs));
    this.#changed.clear();
    return taken;
  }

  #rowOf(link: IpsecLink, child: number): SaRow | undefined {
    const ofLink = this.#byLink.get(link) ?? new Map<number, SaRow>();
    const known = ofLink.get(child);
    if (known !== undefined || this.#rows.length >= maxRows) return known;
    const row = new SaRow(this.#rows.length, link);
    this.#rows.push(row);
    ofLink.set(child, row);
    this.#byLink.set(link, ofLink);
    return row;
  }
}
