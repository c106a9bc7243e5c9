import { readFileSync } from 'node:fs';

/**
 * Checks the OpenAPI document with Spectral and Redocly. The libraries are loaded by name: their types are not needed, and
 * only this command needs the libraries.
 */
const load = async (name: string) => {
  const library = await import(name);
  return library.default ?? library;
};

const text = readFileSync(new URL('../packages/contract/openapi.json', import.meta.url), 'utf8');
const { paths } = JSON.parse(text) as { paths: Record<string, object> };
const operations = Object.values(paths).flatMap((path) => Object.keys(path)).length;

interface Finding {
  readonly severity: number | string;
  readonly code?: string;
  readonly ruleId?: string;
  readonly path?: readonly (string | number)[];
  readonly location?: readonly { readonly pointer?: string }[];
  readonly message: string;
}

const spectral = async (): Promise<Finding[]> => {
  const { Spectral } = await load('@stoplight/spectral-core');
  const { oas } = await load('@stoplight/spectral-rulesets');
  const linter = new Spectral();
  // Members that are named `schema` and `examples` look like a media type to this rule; Redocly checks the examples.
  linter.setRuleset({ extends: [[oas, 'all']], rules: { 'oas3-valid-media-example': 'off', 'info-contact': 'off' } });
  return linter.run(JSON.parse(text));
};

const redocly = async (): Promise<Finding[]> => {
  const { createConfig, lintFromString } = await load('@redocly/openapi-core');
  const rules = {
    'no-invalid-media-type-examples': 'error',
    'no-unused-components': 'off',
    'no-ambiguous-paths': 'off',
  };
  const config = await createConfig({ extends: ['recommended'], rules });
  return lintFromString({ source: text, absoluteRef: '/openapi.json', config });
};

const findings = [...(await spectral()), ...(await redocly())];
for (const { severity, code, ruleId, path, location, message } of findings) {
  console.log(severity, code ?? ruleId, path?.join('/') ?? location?.[0]?.pointer, message);
}
console.log(`Checked ${operations} operations: ${findings.length} problems`);
process.exitCode = findings.length === 0 && operations > 0 ? 0 : 1;
