import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSecrets } from '../../store/engine/secrets.ts';
import { runOf } from '../testing/views.ts';
import { definitionHash, openDefinition, sealSecrets } from './run-definition.ts';

const secrets = createSecrets(randomBytes(32));
const pointer = '/configuration/0/values/ipsecPsk';
const definition = {
  ...{ comment: 'a', accessPlane: [], controlPlane: [], dumps: {} },
  configuration: [{ plugin: { id: 12 }, values: { ipsecPsk: '********', ipsecMode: 'tunnel' } }],
};

describe('the definition of a run', () => {
  it('gets its secrets back, and keeps them out of what is stored', () => {
    const definitionSecrets = sealSecrets({ [pointer]: 'hunter2' }, secrets, 5);
    const run = runOf({ id: 5, definition, definitionSecrets });
    expect(JSON.stringify(definitionSecrets)).not.toContain('hunter2');
    expect(openDefinition(run, secrets).configuration).toMatchObject([{ values: { ipsecPsk: 'hunter2' } }]);
    expect(JSON.stringify(run.definition)).not.toContain('hunter2');
  });

  it('cannot be given the secrets of another run', () => {
    const definitionSecrets = sealSecrets({ [pointer]: 'hunter2' }, secrets, 6);
    expect(() => openDefinition(runOf({ id: 5, definition, definitionSecrets }), secrets)).toThrow();
  });

  it('has the same hash however it is written down, and another when it does something else', () => {
    const reordered = {
      ...definition,
      comment: 'b',
      configuration: [{ values: { ipsecMode: 'tunnel', ipsecPsk: '********' }, plugin: { id: 12 } }],
    };
    expect(definitionHash(reordered)).toBe(definitionHash(definition));
    const other = { ...definition, configuration: [{ plugin: { id: 12 }, values: { ipsecMode: 'transport' } }] };
    expect(definitionHash(other)).not.toBe(definitionHash(definition));
  });
});
