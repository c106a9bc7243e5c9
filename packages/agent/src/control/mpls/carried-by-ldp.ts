import type { PlannedRouter, RouterProfile } from '../routers/plan-routers.ts';
import type { Fec129Profile, MldpProfile, PseudowireProfile, VplsProfile } from '../routers/profiles.ts';
import type { ProtocolInstance, Router } from '../routers/router.ts';
import type { LdpInstance } from './ldp-instance.ts';
import { TreeInstance } from './tree-instance.ts';
import { WireInstance } from './wire-instance.ts';
import { fec129Plan, pseudowirePlan, vplsPlan, type WirePlan } from './wire-options.ts';

/** Protocols without sessions of their own: their messages travel over LDP. */
export const carriedByLdp: readonly string[] = ['pseudowire', 'vpls', 'fec129', 'mldp'];

/** Sites of VPLS may be announced over BGP. */
const isByBgp = ({ protocol, config }: RouterProfile): boolean =>
  protocol === 'vpls' && (config as VplsProfile).instance.signalling === 'bgp';

const planOf = (router: Router, { protocol, config, ordinal }: RouterProfile, ldp: LdpInstance): WirePlan => {
  const common = { router, ordinal, host: 0 };
  if (protocol === 'pseudowire') return pseudowirePlan({ ...common, profile: config as PseudowireProfile });
  if (protocol === 'vpls') return vplsPlan({ ...common, profile: config as VplsProfile });
  return fec129Plan({ ...common, profile: config as Fec129Profile }, ldp.lsrId);
};

/** What uses the sessions of LDP of a router. */
export const instancesOverLdp = (planned: PlannedRouter, ldp: LdpInstance | undefined): ProtocolInstance[] => {
  const { router, profiles } = planned;
  const carried = profiles.filter((profile) => carriedByLdp.includes(profile.protocol) && !isByBgp(profile));
  return carried.map((profile) => {
    if (ldp === undefined) throw new RangeError(`${profile.protocol} of ${router.address} needs a profile of LDP`);
    if (profile.protocol === 'mldp') {
      const trees = new TreeInstance(profile.config as MldpProfile, router);
      ldp.extend(trees.service, []);
      return trees;
    }
    const plan = planOf(router, profile, ldp);
    const { flaps } = profile.config as PseudowireProfile;
    const instance = new WireInstance(plan, { router, flaps });
    ldp.extend(instance.service, plan.peers);
    return instance;
  });
};
