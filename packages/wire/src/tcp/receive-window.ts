import type { TcpConnection } from './connection.ts';
import { distance, isAfter } from './segment/sequence.ts';

/** Bytes the peer may send beyond rcvNxt. The edge moves on only by a worthwhile step (RFC 9293, 3.8.6.2.2). */
export const windowToAnnounce = (c: TcpConnection): number => {
  const current = distance(c.rcvAdvertised, c.rcvNxt);
  const room = c.settings.window - c.rcvHeld;
  const step = Math.min(c.settings.window >> 1, c.rcvMss === 0 ? c.mss : c.rcvMss);
  const window = room - current >= step || room > current + (c.settings.window >> 2) ? room : Math.max(current, 0);
  const scaled = Math.min(window >> c.rcvShift, 0xffff);
  const edge = (c.rcvNxt + (scaled << c.rcvShift)) | 0;
  if (isAfter(edge, c.rcvAdvertised)) c.rcvAdvertised = edge;
  return scaled;
};
