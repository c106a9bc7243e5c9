import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { refused } from '../../testing/refused.ts';
import { campaigns } from './campaigns.ts';

let controller: TestController;
let list: SignedIn['client']['compromisedHost']['list'];
beforeAll(async () => {
  controller = await startTestController();
  ({ list } = (await controller.signIn()).client.compromisedHost);
});
afterAll(() => controller.close());

const ids = async (query: NonNullable<NonNullable<Parameters<typeof list>[0]>['query']>) =>
  (await list({ query: { order: 'asc', count: 100, ...query } })).data.map(({ id }) => id);
const having = (fits: (campaign: (typeof campaigns)[number]) => boolean) => campaigns.filter(fits).map(({ id }) => id);

it('a campaign in a file is played by a task that names the file', async () => {
  const { client } = await controller.signIn();
  const text = 'name: Own\nsteps: [{action: login-spray, params: {attempts: 3}}, {action: smb-probe}]\n';
  const content = Buffer.from(text).toString('base64');
  const { data: file } = await client.files.create({ body: { name: 'own.yaml', category: 'other', content } as never });
  const validated = async (campaignFileIds: number[]) => {
    const values = { sources: [{ agent: { id: 1 } }], targets: [{ agent: { id: 2 } }] };
    const entry = { plugin: { id: 19 }, values: { ...values, compromisedHostParams: { campaignFileIds } } };
    const { data } = await client.tasks.validate({ body: { configuration: [entry] } as never, query: {} });
    return data.issues.map(({ code }) => code);
  };
  const [none, own] = [await validated([]), await validated([file])];
  expect(none).toContain('NO_ATTEMPTS');
  expect(own.filter((code) => ['NO_ATTEMPTS', 'CAMPAIGN_FILE', 'STEP_LEFT_OUT'].includes(code))).toEqual([]);
});

describe('the campaigns', () => {
  it('are listed in pages, without steps unless asked for', async () => {
    const { cursor, data } = await list({ query: { count: 5, page: 2, order: 'asc' } });
    expect(cursor).toEqual({
      count: 5,
      currentPage: 2,
      totalPages: Math.ceil(campaigns.length / 5),
      totalRows: campaigns.length,
    });
    expect(data.map(({ id }) => id)).toEqual([6, 7, 8, 9, 10]);
    expect(data.every((campaign) => campaign.steps === undefined)).toBe(true);
    const full = await list({ query: { id: [1], include: 'steps,layer' } });
    expect(full.data[0]?.steps).toHaveLength(4);
    expect(full.layer).toMatchObject({ versions: { layer: '4.5' }, domain: 'enterprise-attack' });
    expect(full.layer?.techniques.map(({ techniqueID }) => techniqueID)).toEqual(['T1048.003', 'T1071.004']);
  });

  it('are found by technique, with what lies below it', async () => {
    expect(await ids({ technique: 'T1071' })).toEqual(
      having(({ techniques }) => techniques.some((technique) => technique.startsWith('T1071'))),
    );
    expect(await ids({ technique: 'T1071.004' })).toEqual([1]);
    expect(await ids({ technique: 'T9999' })).toEqual([]);
    await expect(list({ query: { technique: 'beacon' } })).rejects.toEqual(refused(400, 'INVALID_REQUEST'));
  });

  it('are found by tactic, protocol, tag, id and words', async () => {
    expect(await ids({ tactic: 'exfiltration' })).toEqual(having(({ tactics }) => tactics.includes('exfiltration')));
    expect(await ids({ protocol: 'icmp' })).toEqual([5]);
    expect(await ids({ tag: 'dga' })).toEqual([4]);
    expect(await ids({ id: [3, 9] })).toEqual([3, 9]);
    expect(await ids({ search: 'TUNNELS a connection' })).toEqual([7]);
    expect(await ids({ key: 'name', count: 1 })).toEqual([6]);
  });
});
