import { api } from '@rushhour/contract';
import { type Client, clientOf, type Send } from './routes-client.ts';

/** A function for every route of the contract: `client.groups.list({ query: { count: 10, offset: 0 } })`. */
export const createClient = (baseUrl: string, send: Send = fetch): Client => clientOf(api, baseUrl, send);
