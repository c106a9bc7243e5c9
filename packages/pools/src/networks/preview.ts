import { findAddress, formatAddress } from '../addresses/address.ts';
import type { AddressSet } from '../addresses/address-set.ts';
import { formatMac } from '../macs/mac.ts';
import { DraftError } from '../values/issue.ts';
import type { NetworkMacs } from './network.ts';
import { type CompiledNetwork, compileNetwork } from './network.ts';
import type { MacLookup, NetworkDraft } from './network-draft.ts';

export interface PreviewRow {
  readonly ip: string;
  /** null: the interface keeps its own. */
  readonly mac: string | null;
  readonly source: 'policy' | 'override' | 'gateway' | 'interface';
  readonly overridden: boolean;
}

/**
 * Counts beyond 2^53 are rounded as JSON numbers are; `nextStart` is exact, so follow it in very large networks.
 */
export interface PreviewPage {
  readonly rows: readonly PreviewRow[];
  /** First address of the next page; null at the end. */
  readonly nextStart: string | null;
  readonly page: number;
  readonly limit: number;
  readonly totalRows: number;
  readonly totalPages: number;
}

/** `start` takes precedence over `page`; `limit` is 1 … 1000, default 100. */
export interface PreviewQuery {
  readonly page?: number | bigint | null | undefined;
  readonly start?: string | null | undefined;
  readonly limit?: number | null | undefined;
}

/**
 * Rows are the client addresses in ascending order; a gateway inside the subnet whose MAC is planned has its row, too.
 * Throws a DraftError for an invalid draft or a page out of range.
 */
export function previewPage(draft: NetworkDraft, resolvedMacs: MacLookup, query: PreviewQuery = {}): PreviewPage {
  const saysWhere = (query.page ?? undefined) !== undefined || Boolean(query.start);
  return createPreview(draft, resolvedMacs).page({
    page: saysWhere ? query.page : draft.page,
    start: saysWhere ? query.start : draft.start,
    limit: query.limit ?? draft.limit,
  });
}

/** Reads the draft once for many pages. */
export function createPreview(draft: NetworkDraft, resolvedMacs: MacLookup): Preview {
  return new Preview(compileNetwork(draft, resolvedMacs));
}

export class Preview {
  readonly totalRows: bigint;
  readonly #clients: AddressSet;
  readonly #macs: NetworkMacs;
  /** The gateway's address and its row. */
  readonly #gateway: { readonly value: bigint; readonly row: bigint; readonly mac: string } | undefined;

  constructor({ issues, addresses, macs }: CompiledNetwork) {
    issues.throwIfErrors();
    if (addresses === undefined || macs === undefined) throw new Error('a network without issues has addresses');
    this.#clients = addresses.clients;
    this.#macs = macs;
    const { gateway } = addresses;
    if (gateway !== undefined && macs.gateway !== undefined) {
      this.#gateway = {
        value: gateway,
        row: this.#clients.lowerBound(gateway),
        mac: formatMac(macs.gateway.mac),
      };
    }
    this.totalRows = this.#clients.size + (this.#gateway === undefined ? 0n : 1n);
  }

  page(query: PreviewQuery = {}): PreviewPage {
    const limit = query.limit ?? 100;
    if (!Number.isInteger(limit) || limit < 1 || limit > 1000) throw outOfRange('/limit', 'limit must be 1 to 1000');
    const size = BigInt(limit);
    const first = query.start ? this.#rowOfStart(query.start) : (pageOf(query.page) - 1n) * size;
    if (first >= this.totalRows) throw outOfRange(query.start ? '/start' : '/page', 'there is no such page');
    const rows = this.#rows(first, limit + 1);
    const next = rows.length > limit ? rows.pop() : undefined;
    return {
      rows,
      nextStart: next?.ip ?? null,
      page: Number(first / size) + 1,
      limit,
      totalRows: Number(this.totalRows),
      totalPages: Number((this.totalRows + size - 1n) / size),
    };
  }

  #rowOfStart(start: string): bigint {
    const address = findAddress(start.trim());
    if (address?.version !== this.#clients.version) {
      throw outOfRange('/start', `"${start}" is not an address of this network`);
    }
    const row = this.#clients.lowerBound(address.value);
    return this.#gateway !== undefined && address.value > this.#gateway.value ? row + 1n : row;
  }

  #rows(first: bigint, count: number): PreviewRow[] {
    const gateway = this.#gateway;
    const rows: PreviewRow[] = [];
    let index = gateway !== undefined && first > gateway.row ? first - 1n : first;
    const hasGateway = gateway !== undefined && first <= gateway.row;
    for (const value of this.#clients.values(index, count)) {
      if (hasGateway && index === gateway.row) rows.push(gatewayRow(this.#clients, gateway));
      rows.push(this.#row(index++, value));
    }
    if (hasGateway && index === gateway.row) rows.push(gatewayRow(this.#clients, gateway));
    return rows.slice(0, count);
  }

  #row(index: bigint, value: bigint): PreviewRow {
    const ip = formatAddress(this.#clients.version, value);
    const override = this.#macs.overrides.get(value);
    if (override !== undefined) return { ip, mac: formatMac(override.mac), source: 'override', overridden: true };
    const mac = this.#macs.assigner?.macAt(index, value) ?? null;
    if (mac === null) return { ip, mac, source: 'interface', overridden: false };
    return { ip, mac: formatMac(mac), source: 'policy', overridden: false };
  }
}

function gatewayRow(clients: AddressSet, gateway: { value: bigint; mac: string }): PreviewRow {
  return { ip: formatAddress(clients.version, gateway.value), mac: gateway.mac, source: 'gateway', overridden: false };
}

function pageOf(page: number | bigint | null | undefined): bigint {
  if (page === null || page === undefined) return 1n;
  if ((typeof page === 'number' && !Number.isInteger(page)) || page < 1) {
    throw outOfRange('/page', 'page is a whole number from 1 on');
  }
  return BigInt(page);
}

function outOfRange(path: string, message: string): DraftError {
  return new DraftError([{ path, code: 'OUT_OF_RANGE', message, severity: 'error' }]);
}
