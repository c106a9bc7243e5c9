import { type Static, Type } from 'typebox';
import { CampaignDraft } from '../../../collections/compromised-host/campaign.ts';
import { choice, flag, section, whole } from '../../protocols/field.ts';
import { fileId, idsOf, optionalIdOf, plainCategories } from '../members/reference.ts';
import { socketMembers } from '../members/traffic-members.ts';
import { milliseconds, optionalObject, valuesOf } from '../members/values.ts';
import { definePlugin } from '../plugin.ts';
import { attackMetrics } from './attack-metrics.ts';
import { blockPolicy, packetForm } from './block-policy.ts';

const schema = valuesOf({
  ...socketMembers,
  compromisedHostParams: section('Campaigns and how they go', {
    campaignIds: idsOf('campaign', 'Campaigns'),
    campaign: Type.Optional(
      Type.Unsafe<Static<typeof CampaignDraft>>({ ...CampaignDraft, description: 'A campaign of the task itself' }),
    ),
    campaignFileIds: Type.Array(fileId('A file of campaigns', plainCategories), {
      default: [],
      maxItems: 20,
      uniqueItems: true,
      description: 'Campaigns in files: YAML of our own, or adversaries of Caldera with their abilities',
    }),
    hosts: whole('Hosts that behave so', 1, [1, 100_000]),
    hostSelection: choice('Which addresses', ['first', 'random', 'all']),
    parameters: Type.Record(
      Type.String({ maxLength: 64 }),
      Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 4096 })),
      { default: {}, description: 'Values of parameters by campaign' },
    ),
    speedFactor: Type.Number({ default: 1, exclusiveMinimum: 0, maximum: 1000, description: 'Speed multiplier' }),
    startSpreadMs: milliseconds('Hosts begin within this time', 0),
    loop: flag('Again and again'),
    c2: section('The C2 server', {
      domain: Type.String({
        default: 'c2.example.test',
        pattern: '\\.(test|example|invalid)$',
        maxLength: 253,
        description: 'Name of the commanding host; in a reserved domain',
      }),
      resolver: choice('Who answers its names', ['serverAgent']),
      serverAgentId: optionalIdOf('agent', 'The agent that plays it; the first target when left out'),
    }),
    background: optionalObject('Ordinary traffic beside it', {
      applicationIds: idsOf('application', 'Applications to play'),
      ratio: Type.Number({ default: 0.8, minimum: 0, maximum: 1, description: 'Its share' }),
    }),
    packets: packetForm,
    marker: flag('Requests of HTTP carry X-Traffic-Test; off: they are recognised by their content', true),
    stopOnBlock: flag('End a host once it is stopped'),
    detection: blockPolicy,
  }),
});

/** Values after defaults are applied. */
export type CompromisedHostValues = Static<typeof schema>;

export const compromisedHost = definePlugin({
  id: 19,
  name: 'compromised-host',
  title: 'Compromised hosts',
  description:
    'Hosts that behave as if somebody else were in command: beacons, lookups, scans and leaks between own agents.',
  kind: 'security',
  hazard: 3,
  engines: ['compromised-host'],
  schema,
  examples: [
    {
      sources: [{ agent: { id: 1 } }],
      targets: [{ agent: { id: 2 } }],
      compromisedHostParams: { campaignIds: [1], hosts: 3 },
    },
  ],
  metrics: attackMetrics('compromised-host'),
  requires: ['The permission compromisedHost.execute'],
});
