import { type Static, Type } from 'typebox';
import { Cursor, ListQuery } from '../../envelopes.ts';
import { collection, route } from '../../route.ts';
import { Id } from '../../scalars.ts';
import { Component, optional } from '../../schema.ts';
import { Campaign, campaignProtocols, campaignTactics, techniquePattern } from './campaign.ts';

/** A layer of the ATT&CK Navigator, format 4.5. */
export const NavigatorLayer = Component('NavigatorLayer', {
  name: Type.String(),
  versions: Type.Object({ attack: Type.String(), navigator: Type.String(), layer: Type.String() }),
  domain: Type.String(),
  description: Type.String(),
  techniques: Type.Array(
    Type.Object({
      techniqueID: Type.String(),
      tactic: Type.String(),
      score: Type.Number(),
      color: Type.String(),
      comment: Type.String(),
      enabled: Type.Boolean(),
      metadata: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
      links: Type.Array(Type.Object({ label: Type.String(), url: Type.String() })),
      showSubtechniques: Type.Boolean(),
    }),
  ),
  gradient: Type.Object({ colors: Type.Array(Type.String()), minValue: Type.Number(), maxValue: Type.Number() }),
  legendItems: Type.Array(Type.Object({ label: Type.String(), color: Type.String() })),
  showTacticRowBackground: Type.Boolean(),
  hideDisabled: Type.Boolean(),
  sorting: Type.Integer(),
});
export type NavigatorLayer = Static<typeof NavigatorLayer>;

export const CampaignQuery = ListQuery(['id', 'name', 'estimatedMs', 'updatedAt'], {
  id: optional.array(Id, { maxItems: 1000, description: 'One of these; may be repeated' }),
  technique: optional.string({ pattern: techniquePattern, description: 'Has this technique or one below it' }),
  tactic: optional.oneOf(campaignTactics),
  protocol: optional.oneOf(campaignProtocols),
  tag: optional.text(64),
  include: optional.string({
    pattern: '^(steps|layer)(,(steps|layer))?$',
    description: 'steps, layer, or both joined by a comma',
  }),
});
export type CampaignQuery = Static<typeof CampaignQuery>;

export const compromisedHost = collection({
  tag: 'compromised-host',
  title: 'Compromised hosts',
  routes: {
    list: route('GET /compromised-host/campaigns', {
      summary: 'Campaigns: what hosts under foreign command do on the network, step by step',
      access: 'compromisedHost.read',
      query: CampaignQuery,
      reply: Type.Object({
        cursor: Cursor,
        data: Type.Array(Campaign),
        layer: Type.Optional(NavigatorLayer),
      }),
    }),
  },
});
