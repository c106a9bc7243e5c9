import type { Campaign, CampaignStep } from '@rushhour/contract';
import { integer, json, maybeInteger, text } from '../engine/column.ts';

/** Campaigns that came with imported tasks. Their ids begin where those that are shipped end. */
export const campaigns = {
  id: integer,
  name: text,
  description: text,
  version: integer,
  tags: text,
  parameters: json<Campaign['parameters']>([]),
  steps: json<CampaignStep[]>([]),
  issuerID: maybeInteger,
  createdAt: text,
  updatedAt: text,
};
