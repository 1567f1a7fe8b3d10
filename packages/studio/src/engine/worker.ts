import type { Reply, Request, Run } from '../model/messages.ts';
import { explore, playCase } from './explore.ts';
import { SessionPlayer } from './play.ts';
import { serveRequests } from './serve-requests.ts';
import { upgrade } from './upgrade.ts';

/** The newest run. A lens of one of its tokens needs no new run. */
let newest: { readonly key: string; readonly player: SessionPlayer } | undefined;

async function playerOf({ files, session }: Run): Promise<SessionPlayer> {
  const key = JSON.stringify([files, session]);
  if (newest?.key === key) return newest.player;
  const player = new SessionPlayer(files, session);
  await player.play();
  newest = { key, player };
  return player;
}

async function handle(request: Request, reply: (message: Reply) => void): Promise<void> {
  switch (request.type) {
    case 'explore':
      return await explore(request.files, reply);
    case 'case':
      return reply({ type: 'case', case: await playCase(request.files, request.cell) });
    case 'play':
      newest = undefined;
      return reply({ type: 'lanes', lanes: (await playerOf(request)).lanes });
    case 'upgrade':
      return reply({ type: 'misfits', misfits: await upgrade(request.files, request.next, request.session) });
    case 'record':
      return reply({ type: 'recording', text: (await playerOf(request)).recording(request.lane) });
    case 'lens':
      return reply({ type: 'lens', lens: await (await playerOf(request)).lens(request.lane, request.point) });
    case 'tamper': {
      const refusal = await (await playerOf(request)).tamper(request.lane, request.point);
      return reply({ type: 'refusal', refusal });
    }
  }
}

serveRequests(handle);
