import * as z from 'zod';

// The tool that all servers under load serve: it deploys a service, and asks two questions, one
// after the other.
export const info = { name: 'load', version: '1' };
export const tool = { name: 'deploy', description: 'Deploys a service' };
export const Input = z.object({ service: z.string(), replicas: z.number().int().optional() });
export const Target = z.object({ target: z.string() });
export const Window = z.object({ from: z.string(), hours: z.number() });
export const where = 'Where to?';
export const when = 'When may it restart?';
/** Where and when the tool deploys if it cannot ask. */
export const usual = { target: 'production', from: '22:00' };

/** Returns the result text of the tool. */
export function told(service: string, target: string, from: string): string {
  return `${service} goes to ${target} at ${from}.`;
}
