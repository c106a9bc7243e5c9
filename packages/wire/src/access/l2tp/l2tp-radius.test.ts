import { expect, it } from 'vitest';
import { md5 } from '../../bytes/md5.ts';
import { ip4 } from '../../testing/access-ends.ts';
import { AccessLab } from '../../testing/access-lab.ts';
import { createL2tpEnds } from '../../testing/l2tp-ends.ts';
import { RadiusClient } from '../radius/client.ts';
import {
  findAttribute,
  findNumber,
  joinBytes,
  numberAttribute,
  type RadiusAttribute,
  radiusAttribute,
  radiusCode,
  readRadius,
} from '../radius/message.ts';
import { sessionState } from '../session-table.ts';

const { up } = sessionState;
const secret = new TextEncoder().encode('radius');

const answerTo = (request: Uint8Array, code: number, attributes: readonly RadiusAttribute[]): Uint8Array => {
  const body = attributes.map(({ type, value }) => joinBytes([Uint8Array.of(type, value.length + 2), value]));
  const bytes = joinBytes([request.subarray(0, 20), ...body]);
  bytes[0] = code;
  new DataView(bytes.buffer).setUint16(2, bytes.length);
  bytes.set(md5(joinBytes([bytes, secret])), 4);
  return bytes;
};

it.each([false, true])('a RADIUS server decides about subscribers of an LNS, with proxy: %s', (proxyAuth) => {
  const requests: (readonly RadiusAttribute[])[] = [];
  const lab = new AccessLab();
  const radius: RadiusClient = new RadiusClient(
    {
      random: lab.random,
      send: (socket, isAccounting, bytes) => {
        const attributes = readRadius(bytes)?.attributes ?? [];
        requests.push(attributes);
        const name = new TextDecoder().decode(findAttribute(attributes, radiusAttribute.userName));
        const code = name === 'user1@test' ? radiusCode.accessAccept : radiusCode.accessReject;
        const address = numberAttribute(radiusAttribute.framedAddress, ip4('10.1.2.3'));
        const answer = answerTo(
          bytes,
          isAccounting ? radiusCode.accountingResponse : code,
          isAccounting ? [] : [address],
        );
        radius.receive(socket, answer);
      },
    },
    { secret, timeoutMs: 1000, attempts: 3 },
  );
  const sessions = { nasIdentifier: 'lns', portName: 'eth0', accounting: true, interimSec: 0 };
  const pair = createL2tpEnds({ count: 2, proxyAuth }, { proxyAuth, radius: sessions }, lab, radius);
  pair.subscribers.begin();
  expect(lab.run(5000, () => pair.table.counts[up] === 1)).toBe(true);
  lab.run(50);
  expect([pair.lac.addressOf(0), pair.table.causeOf(1)]).toEqual([ip4('10.1.2.3'), 'authentication: refused']);
  const [first = []] = requests;
  expect(findAttribute(first, radiusAttribute.chapPassword)).toHaveLength(17);
  // Virtual, and at no station.
  expect(findNumber(first, radiusAttribute.nasPortType)).toBe(5);
  expect(findAttribute(first, radiusAttribute.callingStationId)).toBeUndefined();
  expect(pair.end()).toBe(true);
  const statuses = requests.map((attributes) => findNumber(attributes, radiusAttribute.acctStatusType));
  expect(statuses.filter((status) => status !== undefined)).toEqual([1, 2]);
  expect(pair.leftovers()).toBe(0);
});
