import { permissions } from '@rushhour/contract';
import { text } from './text.ts';

const { nav, people: words } = text;

const areas: Readonly<Record<string, unknown>> = {
  ...nav,
  taskTemplates: nav.templates,
  compromisedHost: nav.campaigns,
  aiAdmin: words.aiAdmin,
  system: words.system,
};
const verbs: Readonly<Record<string, string>> = { ...words.verbs, admin: words.everything };

/** The resource of a permission `area.verb`. */
export const areaNameOf = (area: string): string => String(areas[area] ?? area);

/** What a permission allows. */
export const verbNameOf = (verb: string): string => verbs[verb] ?? verb;

/** All permissions by resource, for a select. */
export const permissionChoices = () =>
  Object.entries(Object.groupBy(Object.keys(permissions), (name) => name.split('.')[0] ?? '')).map(
    ([area, names = []]) => ({
      group: areaNameOf(area),
      items: names.map((value) => ({
        value,
        label: `${areaNameOf(area)}: ${verbNameOf(value.split('.')[1] ?? '')}`,
      })),
    }),
  );
