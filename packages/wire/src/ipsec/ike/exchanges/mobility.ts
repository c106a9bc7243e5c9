import { copyOf } from '../../../bytes/memory.ts';
import type { IkeSa } from '../ike-sa.ts';
import { concatBytes, type IkePayload, isSameBytes } from '../messages/message.ts';
import { exchangeType, notifyType } from '../messages/numbers.ts';
import { PayloadSet } from '../messages/payload-set.ts';
import { notify } from '../messages/payloads.ts';
import { detectNat, natNotifications } from './init-exchange.ts';

// Other addresses for an SA that is up (MOBIKE, RFC 4555).

const cookieBytes = 16;

const spisOf = (sa: IkeSa): Uint8Array => concatBytes(sa.initiatorSpi, sa.responderSpi);

/** Asks the peer to send to the address that this request comes from. */
export const startUpdate = (sa: IkeSa): void => {
  const { route } = sa;
  const cookie = sa.crypto.random(cookieBytes);
  const payloads = [notify(notifyType.updateSaAddresses), ...natNotifications(sa), notify(notifyType.cookie2, cookie)];
  sa.request(exchangeType.informational, payloads, (reply) => {
    const answer = new PayloadSet(reply);
    const returned = answer.notification(notifyType.cookie2)?.data;
    if (returned !== undefined && !isSameBytes(returned, cookie)) {
      sa.close('invalidResponse');
      return;
    }
    // It has moved again since.
    if (sa.route !== route) return;
    detectNat(sa, answer, spisOf(sa));
    sa.owner.events.onMoved(sa);
  });
};

/** The answer to a peer that has moved: what a NAT in between does to this side's packets, and its cookie. */
export const updateAnswer = (sa: IkeSa, request: PayloadSet): IkePayload[] => {
  detectNat(sa, request, spisOf(sa));
  sa.owner.events.onMoved(sa);
  const cookie = request.notification(notifyType.cookie2)?.data;
  return [...natNotifications(sa), ...(cookie === undefined ? [] : [notify(notifyType.cookie2, copyOf(cookie))])];
};
