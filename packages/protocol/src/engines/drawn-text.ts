import { type Static, Type } from 'typebox';
import { PlayedDictionary } from './played-dictionary.ts';

/** Texts that an engine draws from a dictionary, one for each message. Users are its connections or flows. */
export const DrawnText = Type.Object(
  {
    dictionary: PlayedDictionary,
    text: Type.String({
      default: '',
      description: 'The message; `{{column}}` stands for a cell of the row. Empty: the first column.',
    }),
    seed: Type.String({ default: '' }),
    firstUser: Type.Integer({ minimum: 0, default: 0, description: 'Number of the first user of this client.' }),
    users: Type.Integer({
      minimum: 1,
      default: 1,
      description: 'Users of the agent; only some may be of this client.',
    }),
    agentIndex: Type.Integer({ minimum: 0, default: 0 }),
    agentCount: Type.Integer({ minimum: 1, default: 1 }),
  },
  { additionalProperties: false },
);
export type DrawnText = Static<typeof DrawnText>;
