import type { Reply, Request, Run } from '../model/messages.ts';
import type { Code } from '../model/session.ts';
import { explore, playCase } from './explore.ts';
import { SessionPlayer } from './play.ts';
import type { Evaluate, Playground } from './playground.ts';
import { upgrade } from './upgrade.ts';

export type Engine = (request: Request, report: (message: Reply) => void) => Promise<unknown>;

/**
 * Creates an engine. With `refuse`, a lens or a recording of an older run does not run its code
 * again.
 */
export function createEngine(evaluate: Evaluate, repeats: 'accept' | 'refuse' = 'accept'): Engine {
  /** The newest run. A lens of a token of this run needs no new run. */
  let newest: { readonly key: string; readonly player: SessionPlayer } | undefined;
  const one = async (code: Code): Promise<Playground> => (await evaluate(code))[0] as Playground;

  async function playerOf({ code, session }: Run, mayRun: boolean): Promise<SessionPlayer> {
    const key = JSON.stringify([code, session]);
    if (newest?.key === key) return newest.player;
    if (!mayRun) throw new Error('The engine no longer has this run. Start it again.');
    const player = new SessionPlayer(await one(code), session);
    await player.play();
    newest = { key, player };
    return player;
  }

  return async (request, report) => {
    if (request.type === 'explore')
      return await explore(async () => await one(request.code), report);
    if (request.type === 'case') return await playCase(await one(request.code), request.cell);
    if (request.type === 'upgrade') {
      const [old, next] = (await evaluate(request.code, request.next)) as [Playground, Playground];
      return await upgrade(old, next, request.session);
    }
    if (request.type === 'play') newest = undefined;
    const player = await playerOf(request, repeats === 'accept' || request.type === 'play');
    if (request.type === 'play') return player.lanes;
    if (request.type === 'record') return player.recording(request.lane);
    return await player.lens(request.lane, request.point, request.isChanged);
  };
}
