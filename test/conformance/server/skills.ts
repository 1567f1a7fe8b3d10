import {
  memorySkillFiles,
  type SkillCatalog,
  SkillsExtension,
} from '@modelcontextprotocol/server/ext/skills';

const skill = `---
name: deploying
description: Deploys a service
---

Call the tool.
`;

/** The SDK's own extension for skills, which the sagas of a server must not disturb. */
export async function skills(): Promise<SkillCatalog> {
  return await SkillsExtension.load(
    memorySkillFiles({
      'deploying/SKILL.md': skill,
      'deploying/references/GUIDE.md': 'Deploy twice.\n',
    }),
  );
}
