import { accessProfiles, controlProfiles, type PluginSpec, plugins } from '@rushhour/contract';

/** A plugin as far as agents are concerned: which engines can do its work. */
export type CataloguePlugin = Pick<PluginSpec, 'id' | 'name' | 'engines'>;

/** One protocol of a plane. */
export interface PlaneProtocol {
  readonly plane: 'access' | 'control';
  readonly name: string;
}

export const pluginCatalogue: readonly CataloguePlugin[] = plugins;

export const planeProtocols: readonly PlaneProtocol[] = [
  ...Object.keys(accessProfiles).map((name) => ({ plane: 'access' as const, name })),
  ...Object.keys(controlProfiles).map((name) => ({ plane: 'control' as const, name })),
];
