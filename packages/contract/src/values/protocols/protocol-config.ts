import { Settings } from 'typebox/system';
import { Check, Clone, Default, Errors } from 'typebox/value';
import { type ProtocolConfig, type ProtocolName, protocolProfiles } from './profiles.ts';

interface ProtocolIssue {
  /** JSON pointer into the config. */
  path: string;
  code: string;
  message: string;
}

// TypeBox stops after eight problems unless told otherwise; a config answers all it has.
Settings.Set({ maxErrors: 100 });

/** The config with every default filled in. Give it what `issuesOfProtocol` has nothing against. */
export const protocolConfigOf = <Name extends ProtocolName>(name: Name, config: unknown): ProtocolConfig<Name> =>
  Default(protocolProfiles[name], Clone(config)) as ProtocolConfig<Name>;

/** Every problem of a profile's config. */
export const issuesOfProtocol = (name: ProtocolName, config: unknown): ProtocolIssue[] => {
  const schema = protocolProfiles[name];
  const filled = protocolConfigOf(name, config);
  if (Check(schema, filled)) return [];
  return Errors(schema, filled).flatMap((error) => issuesOf(error as SchemaError));
};

interface SchemaError {
  keyword: string;
  instancePath: string;
  params: Record<string, unknown>;
  message: string;
}

const issuesOf = ({ keyword, instancePath, params, message }: SchemaError): ProtocolIssue[] => {
  switch (keyword) {
    case 'required':
      return (params['requiredProperties'] as string[]).map((name) => ({
        path: `${instancePath}/${name}`,
        code: 'REQUIRED',
        message: 'is required',
      }));
    // A member no schema knows is reported twice: at the member, and once more at the object around it.
    case 'additionalProperties':
      return [];
    case 'boolean':
      return [{ path: instancePath, code: 'UNKNOWN_MEMBER', message: 'is not known here' }];
    case 'enum': {
      const allowed = (params['allowedValues'] as unknown[]).join(', ');
      return [{ path: instancePath, code: 'ENUM', message: `must be one of ${allowed}` }];
    }
    default:
      return [{ path: instancePath, code: keyword.replace(/([A-Z])/g, '_$1').toUpperCase(), message }];
  }
};
