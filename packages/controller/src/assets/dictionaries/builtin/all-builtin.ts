import { benignTexts } from './benign-texts.ts';
import type { BuiltinDictionary } from './builtin-dictionary.ts';
import { commonPorts } from './common-ports.ts';
import { httpMethods } from './http-methods.ts';
import { oddStrings } from './odd-strings.ts';
import { testNames } from './test-names.ts';
import { userAgents } from './user-agents.ts';

/** In the order of their ids on a new installation. */
export const allBuiltin: readonly BuiltinDictionary[] = [
  userAgents,
  benignTexts,
  httpMethods,
  commonPorts,
  oddStrings,
  testNames,
];
