import type { BgpFamily } from './families.ts';
import type { BgpCapabilities } from './open.ts';

/** What both sides offer. */
export interface Negotiated {
  readonly families: readonly BgpFamily[];
  readonly fourByteAs: boolean;
  readonly extendedMessages: boolean;
  readonly routeRefresh: boolean;
  readonly sendsPathIds: readonly BgpFamily[];
  readonly receivesPathIds: readonly BgpFamily[];
}

export const negotiate = (own: BgpCapabilities, peer: BgpCapabilities): Negotiated => {
  const both = (a: readonly BgpFamily[], b: readonly BgpFamily[]) => a.filter((family) => b.includes(family));
  return {
    families: both(own.families, peer.families),
    fourByteAs: own.fourByteAs && peer.fourByteAs,
    extendedMessages: own.extendedMessages && peer.extendedMessages,
    routeRefresh: own.routeRefresh && peer.routeRefresh,
    sendsPathIds: both(own.addPath.sends, peer.addPath.receives),
    receivesPathIds: both(own.addPath.receives, peer.addPath.sends),
  };
};
