/** A plugin as far as agents are concerned: which engines can do its work. */
export interface CataloguePlugin {
  readonly id: number;
  readonly name: string;
  readonly engines: readonly string[];
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
