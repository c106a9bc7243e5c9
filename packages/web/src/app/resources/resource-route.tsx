import { useParams } from '@tanstack/react-router';
import { MissingPage } from '../../components/page-states.tsx';
import { ResourcePage } from '../../components/resource/resource-page.tsx';
import { resources } from './resources.tsx';

export const ResourceRoute = () => {
  const { name } = useParams({ strict: false });
  const resource = resources.find((one) => one.name === name);
  return resource === undefined ? <MissingPage /> : <ResourcePage key={resource.name} resource={resource} />;
};
