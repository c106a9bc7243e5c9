import { api, type Collection, type Route } from '@rushhour/contract';
import { namesOf } from './arguments.ts';

const collections = api as Record<string, Collection>;

export const overview = () => `usage: rushhour <collection> <operation> [--name value …] [--json '{…}']
       rushhour login --email you@example.test [--url http://127.0.0.1:8080]   (password from RUSHHOUR_PASSWORD or standard input)
       rushhour watch                     notifications and states as they happen
       rushhour start                     the controller and its local agents
       rushhour agent --controller URL --token TOKEN   an agent on this machine
       rushhour audit verify [--checkpoints FILE]   checks the audit chain of the data folder or DATABASE_URL
       rushhour audit checkpoint          prints the state of the audit chain, to be kept elsewhere

collections: ${Object.values(collections)
  .map(({ tag }) => tag)
  .sort()
  .join(' ')}
rushhour <collection> lists its operations.`;

export const helpFor = ({ tag, routes }: Collection) =>
  Object.entries(routes)
    .map(([operation, route]) => `rushhour ${tag} ${operation}${optionsText(route)}\n    ${route.summary}`)
    .join('\n');

const optionsText = (route: Route) =>
  namesOf(route)
    .map((name) => ` [${name}]`)
    .join('');
