import type { MessageWriter } from '../../message-writer.ts';
import { type LsaHeader, lsaHeaderOf } from '../lsa.ts';

export const lsaType = { router: 1, network: 2, external: 5, nssa: 7 } as const;

export const readLsaHeader = (view: DataView, at: number): LsaHeader => lsaHeaderOf(view, at, view.getUint8(at + 3));

/** Type and identity of an LSA with its options. */
export const lsaOf = (options: number, type: number, id: number, router: number) => ({
  ...{ type, id, router },
  typeField: (options << 8) | type,
});

export const linkType = { pointToPoint: 1, transit: 2, stub: 3 } as const;

export interface RouterLink {
  readonly type: number;
  readonly id: number;
  readonly data: number;
  readonly metric: number;
}

/** Bit of router LSAs: routes from outside are announced. */
export const asBoundary = 2;

export const writeRouterBody = (flags: number, links: readonly RouterLink[]) => (writer: MessageWriter) => {
  writer.u8(flags).u8(0).u16(links.length);
  for (const { id, data, type, metric } of links) writer.u32(id).u32(data).u8(type).u8(0).u16(metric);
};

export const writeNetworkBody = (mask: number, routers: readonly number[]) => (writer: MessageWriter) => {
  writer.u32(mask);
  for (const router of routers) writer.u32(router);
};

export const writeExternalBody =
  (external: {
    readonly mask: number;
    readonly isType2: boolean;
    readonly metric: number;
    readonly forwarding: number;
  }) =>
  (writer: MessageWriter) => {
    writer
      .u32(external.mask)
      .u8(external.isType2 ? 0x80 : 0)
      .u24(external.metric);
    writer.u32(external.forwarding).u32(0);
  };
