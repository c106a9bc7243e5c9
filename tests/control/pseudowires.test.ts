import { expect, it } from 'vitest';
import { useCable } from '../engines/use-cable.ts';
import { startFrr } from './frr.ts';
import { profileOf } from './profiles.ts';
import { listedRoutes } from './result-rows.ts';
import { startRouters } from './routers.ts';

const cable = useCable('test', ({ right }) => {
  right.run('ip', 'address', 'add', '10.99.0.77/24', 'dev', right.device);
  right.run('ip', 'link', 'set', 'lo', 'up');
});

interface Binding {
  readonly localLabel: number | string;
  readonly remoteLabel?: number | string;
  readonly remoteGroupId?: number;
  readonly remoteIfMtu?: number;
  readonly remoteControlWord?: string;
}

const ldp = profileOf('ldp', {
  session: { transportAddress: '10.99.0.9', lsrId: '10.99.0.9', helloSec: 1, keepaliveSec: 5 },
});

/** FRR with pseudowires of the numbers 7 and 8 to our router. */
const startPeer = (word: 'include' | 'exclude') => {
  const wires = [7, 8].map(
    (id) => `member pseudowire mpw${id}
        neighbor lsr-id 10.99.0.9
        pw-id ${id}
        control-word ${word}
       exit`,
  );
  return startFrr(
    cable.right,
    ['ldpd'],
    `mpls ldp
      router-id 10.99.0.77
      address-family ipv4
       discovery transport-address 10.99.0.77
       discovery hello interval 1
       interface ${cable.right.device}
       exit
      exit-address-family
     exit
     l2vpn TEST type vpls
       ${wires.join('\n       ')}
     exit`,
  );
};

it('FRR and our router agree on pseudowires of numbers and of a VPLS, and on those that only one of them has', async () => {
  const frr = await startPeer('include');
  const job = await startRouters(cable.left, {
    ldp: [ldp],
    pseudowire: [profileOf('pseudowire', { wire: { idStart: 7, count: 1, groupId: 5 } })],
    vpls: [profileOf('vpls', { instance: { vpnIdStart: 8, count: 2, labelStart: 500_000, controlWord: false } })],
  });
  const bindings = async () =>
    Object.values((await frr.json('show l2vpn atom binding json')) as Record<string, Binding>);
  const remote = async () => (await bindings()).map((one) => `${one.remoteLabel} ${one.remoteIfMtu}`).sort();
  await expect.poll(remote, { interval: 300 }).toEqual(['400000 1500', '500000 1500', '500001 1500']);
  const wires = () =>
    listedRoutes(job).flatMap(({ cells }) =>
      cells['family'] === 'wire' ? [`${cells['route']}: ${cells['attributes']}`] : [],
    );
  // FRR does without the control word, once it has asked with it; without MPLS in its kernel it does not forward.
  await expect
    .poll(wires, { interval: 500 })
    .toEqual([
      expect.stringMatching(/^ethernet 7: (up|fault of the neighbour), labels 400000 in, \d+ out$/),
      expect.stringMatching(/^vpn 8: (up|fault of the neighbour), labels 500000 in, \d+ out$/),
      'vpn 9: no label, labels 500001 in, none out',
    ]);
  await job.stop();
});
