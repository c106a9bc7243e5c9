import { isIP } from 'node:net';
import { CampaignDraft, campaignActions, campaignProtocols, campaignTactics } from '@rushhour/contract';
import { describe, expect, it } from 'vitest';
import { createSchemaCheck } from '../../schema-check.ts';
import { foreignNames, stepIssues } from './action-params.ts';
import { campaigns, findCampaign } from './campaigns.ts';
import { navigatorLayer } from './navigator-layer.ts';

const check = createSchemaCheck(CampaignDraft);

describe('the built-in campaigns', () => {
  it('are at least twelve, with ids and names of their own', () => {
    expect(campaigns.length).toBeGreaterThanOrEqual(12);
    expect(new Set(campaigns.map(({ id }) => id)).size).toBe(campaigns.length);
    expect(new Set(campaigns.map(({ name }) => name)).size).toBe(campaigns.length);
    expect(findCampaign(1)?.name).toBe('DNS C2 beacon with slow exfiltration (T1071.004)');
  });

  it('use every action there is', () => {
    const used = new Set(campaigns.flatMap(({ steps }) => steps.map(({ action }) => action)));
    expect(campaignActions.filter((action) => !used.has(action))).toEqual([]);
  });

  it.each(campaigns.map((one) => [one.name, one] as const))('%s is sound', (_, campaign) => {
    const { name, description, tags, parameters, steps } = campaign;
    expect(check({ name, description, tags, parameters, steps: structuredClone(steps) })).toEqual([]);
    expect(steps.map(({ idx }) => idx)).toEqual([...steps.keys()]);
    expect(steps.flatMap((step) => stepIssues(step, campaign, `/steps/${step.idx}`))).toEqual([]);
    for (const { requires, idx } of steps) expect(requires.every((before) => before < idx)).toBe(true);
    for (const { action, technique, remediation } of steps) {
      if (action !== 'wait')
        expect([technique, remediation.length > 20]).toEqual([expect.stringMatching(/^T\d{4}/), true]);
    }
    expect(campaign.tactics.every((tactic) => campaignTactics.includes(tactic))).toBe(true);
    expect(campaign.protocols.every((protocol) => campaignProtocols.includes(protocol))).toBe(true);
    expect(campaign.fingerprint).toMatch(/^[0-9a-f]{64}$/);
  });

  it('name nobody but reserved names and addresses', () => {
    expect(foreignNames(campaigns)).toEqual([]);
    // The same search finds what is meant to be found.
    expect(
      foreignNames({
        a: ['see https://evil.com/x', 'mail to a@b.org', '8.8.8.8', '2001:4860:4860::8888'],
        b: 'c2.example.test 192.0.2.7',
      }),
    ).toEqual(['evil.com', 'b.org', '8.8.8.8', '2001:4860:4860::8888']);
    expect(isIP('192.0.2.7')).toBe(4);
  });
});

describe('the layer of a selection', () => {
  it('counts campaigns by technique, in the form of the Navigator', () => {
    const layer = navigatorLayer(campaigns.filter(({ id }) => id === 1 || id === 4));
    expect(layer).toMatchObject({ domain: 'enterprise-attack', versions: { layer: '4.5', attack: '16' } });
    const score = Object.fromEntries(layer.techniques.map(({ techniqueID, score: count }) => [techniqueID, count]));
    expect(score).toEqual({ 'T1048.003': 1, 'T1071.001': 1, 'T1071.004': 1, 'T1568.002': 1 });
    expect(layer.techniques.every(({ tactic }) => (campaignTactics as readonly string[]).includes(tactic))).toBe(true);
  });
});
