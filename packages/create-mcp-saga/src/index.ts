/** Creates projects with a multi-step MCP tool, its test, and its server. */
export { createFromFlags, type CreateTerminal } from './main.ts';
export { createProject, type CreatedProject, type ProjectOptions } from './project.ts';
export { type Language, type TemplateName } from './templates.ts';
