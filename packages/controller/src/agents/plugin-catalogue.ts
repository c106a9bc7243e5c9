import { accessProfiles, controlProfiles } from '@rushhour/contract';

/** A plugin as far as agents are concerned: which engines can do its work. */
export interface CataloguePlugin {
  readonly id: number;
  readonly name: string;
  readonly engines: readonly string[];
}

/** One protocol of a plane. */
export interface PlaneProtocol {
  readonly plane: 'access' | 'control';
  readonly name: string;
}

/** The plugins whose engines agents have. */
export const pluginCatalogue: readonly CataloguePlugin[] = [
  { id: 1, name: 'http', engines: ['http'] },
  { id: 2, name: 'tcp', engines: ['tcp'] },
  { id: 3, name: 'udp', engines: ['udp'] },
  { id: 4, name: 'dns', engines: ['dns'] },
  { id: 6, name: 'stateless-server', engines: ['stateless-server'] },
  { id: 11, name: 'tls', engines: ['tls'] },
];

export const planeProtocols: readonly PlaneProtocol[] = [
  ...Object.keys(accessProfiles).map((name) => ({ plane: 'access' as const, name })),
  ...Object.keys(controlProfiles).map((name) => ({ plane: 'control' as const, name })),
];
