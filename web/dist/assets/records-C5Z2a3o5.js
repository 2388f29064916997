import{O as e,h as t,j as n,w as r}from"./protocol-BnDYhC2l.js";import{A as i,E as a,O as o,f as s,k as c,p as l,vt as u,yt as d}from"./shared-e7Y_DLR7.js";import{Bt as f,Dt as p,E as m,Lt as h,Nt as g,Vt as _,dt as v,in as y,nn as b,rn as x,ut as S,vt as C,xt as w}from"./index-IjtNaL8x.js";function T(e){return E(e.getTime())}function E(t){let i=Math.floor(t/1e3);return e(r,{seconds:n.parse(i),nanos:(t-i*1e3)*1e6})}var D=20;function O({title:e,kind:t}){let{archive:n}=g.value,{entries:r,busy:i,more:a}=l(async e=>{let n=await u.listRatings({kind:t,pageSize:D,pageToken:e});return{entries:n.participants,next:n.nextPageToken}});return p(`section`,{class:`panel`,children:[p(`h2`,{children:[n.ranking,` · `,e]}),r?.length===0&&p(`p`,{class:`muted`,children:n.noRanking}),r&&r.length>0&&p(`table`,{class:`scores`,children:[p(`thead`,{children:p(`tr`,{children:[p(`th`,{scope:`col`,children:n.name}),p(`th`,{scope:`col`,children:n.rating}),p(`th`,{scope:`col`,children:n.deviation}),p(`th`,{scope:`col`,children:n.games})]})}),p(`tbody`,{children:r.map(({rank:e,participant:t,stats:n})=>p(`tr`,{children:[p(`th`,{scope:`row`,children:[e,`. `,p(s,{of:t})]}),p(`td`,{children:Math.round(n?.rating?.value??0)}),p(`td`,{children:Math.round(2*(n?.rating?.deviation??0))}),p(`td`,{children:n?.rating?.games})]},e))})]}),a&&p(`button`,{type:`button`,disabled:i,onClick:a,children:n.more})]})}var k=`# The usual names of openings, as in Robert Gatliff's list: a name, and the moves from the standard start after which the
# game has it.
Diagonal c4c3
X-Square c4c3d3c5b2
Snake c4c3d3c5b3
Lysons c4c3d3c5b3f3
Pyramid c4c3d3c5b3f4b5b4c6d6f5
Heath c4c3d3c5b4
Mimura Variation II c4c3d3c5b4d2c2f4d6c6f5e6f7
Heath-Bat c4c3d3c5b4d2d6
Iwasaki Variation c4c3d3c5b4d2e2
Heath-Chimney c4c3d3c5b4e3
Raccoon Dog c4c3d3c5b5
Rocket c4c3d3c5b6
Hamilton c4c3d3c5b6c6b5
Lollipop c4c3d3c5b6e3
Cow c4c3d3c5d6
Chimney c4c3d3c5d6e3
Cow Bat c4c3d3c5d6f4b4
Bat (Piau Continuation 2) c4c3d3c5d6f4b4b6b5c6b3
Bat (Piau Continuation 1) c4c3d3c5d6f4b4b6b5c6f5
Bat (Kling Continuation) c4c3d3c5d6f4b4c6b5b3b6e3c2a4a5a6d2
Bat (Kling Alternative) c4c3d3c5d6f4b4e3b3
Rose-v-Toth c4c3d3c5d6f4f5
Tanida c4c3d3c5d6f4f5d2
Aircraft c4c3d3c5d6f4f5d2b5
Sailboat c4c3d3c5d6f4f5d2g4d7
Maruoka c4c3d3c5d6f4f5e6c6d7
Landau c4c3d3c5d6f4f5e6f6
Buffalo c4c3d3c5f6
Maruoka Buffalo c4c3d3c5f6e2c6
Tanida Buffalo c4c3d3c5f6e3c6f5f4g5
Hokuriku Buffalo c4c3d3c5f6f5
Wing Variation c4c3e6c5
Semi-Wing Variation c4c3f5c5
Parallel c4c5
Perpendicular c4e3
Fishhook c4e3f4
Mimura c4e3f4c5d6e6
Shaman c4e3f4c5d6f3c6
Inoue c4e3f4c5d6f3d3
Iago c4e3f4c5d6f3d3c3
Bhagat c4e3f4c5d6f3e2
Rose c4e3f4c5d6f3e6c3d3e2
Flat c4e3f4c5d6f3e6c3d3e2b5
Rotating Flat c4e3f4c5d6f3e6c3d3e2b5f5
Murakami Variation c4e3f4c5d6f3e6c3d3e2b5f5b3
Rotating Flat (Kling Continuation) c4e3f4c5d6f3e6c3d3e2b5f5b4f6c2e7d2c7
Rose-Birth c4e3f4c5d6f3e6c3d3e2b6f5
Brightstein c4e3f4c5d6f3e6c3d3e2b6f5b4f6g5d7
Rose-Birdie c4e3f4c5d6f3e6c3d3e2b6f5g5
Rose-Tamenori-Kling c4e3f4c5d6f3e6c3d3e2b6f5g5f6
Greenberg c4e3f4c5d6f3e6c3d3e2d2
Ralle c4e3f4c5d6f3e6c6
Horse c4e3f4c5e6
Ganglion c4e3f5b4
Swallow c4e3f5b4f3
No-Cat (Continuation) c4e3f5b4f3f4e2e6g5f6d6c6
Italian c4e3f5e6d3
Cat c4e3f5e6f4
Sakaguchi c4e3f5e6f4c5d6c6f7f3
Berner c4e3f5e6f4c5d6c6f7g5g6
Bent Ganglion c4e3f6b4
Tiger c4e3f6e6f5
Stephenson c4e3f6e6f5c5c3
No-Kung c4e3f6e6f5c5c3b4
No-Kung (Continuation) c4e3f6e6f5c5c3b4d6c6b5a6b6c7
Comp'Oth c4e3f6e6f5c5c3c6
F.A.T. Draw c4e3f6e6f5c5c3c6d3d2e2b3c1c2b4a3a5b5a6a4a2
Scorpion c4e3f6e6f5c5c3c6d3d2
Lightning Bolt c4e3f6e6f5c5c3c6d6
Kung c4e3f6e6f5c5c3g5
Leader's Tiger c4e3f6e6f5c5d3
Brightwell c4e3f6e6f5c5d6
Grand Central c4e3f6e6f5c5f4g5
Ishii c4e3f6e6f5c5f4g5g4f3c6d3d6
Mainline Tiger c4e3f6e6f5c5f4g5g4f3c6d3d6b3c3b4e2b6
Rose-Bill c4e3f6e6f5c5f4g6f7
Tamenori c4e3f6e6f5c5f4g6f7d3
Nicolet c4e3f6e6f5c5f4g6f7d6
Central Rose-Bill c4e3f6e6f5c5f4g6f7g5
Aubrey c4e3f6e6f5g6
Aubrey (Feldborg Continuation) c4e3f6e6f5g6e7c5
`.split(`
`).filter(e=>e&&!e.startsWith(`#`)).map(e=>e.slice(0,e.lastIndexOf(` `))).sort((e,t)=>e.localeCompare(t,`en`));function A({name:e,choose:t}){let{archive:n}=g.value,[r,i]=_(``),a=f(``),o=f(null),s=async e=>{a.current=e,i(``);let n=e?await m(()=>C(()=>j(e))):void 0;a.current===e&&(n===`nobody`&&i(e),t(n===`nobody`?void 0:n))};return h(()=>{o.current&&!r&&(o.current.value=e)},[e]),p(`label`,{class:`field`,children:[p(`span`,{children:n.player}),p(`input`,{ref:o,type:`search`,maxLength:24,autoComplete:`off`,placeholder:n.playerName,onChange:e=>void s(e.currentTarget.value.trim())}),r&&p(`span`,{role:`alert`,children:n.nobody(r)})]})}async function j(e){try{return(await u.getPlayerStats({displayName:e})).player}catch(e){if(M.has(w(e).reason))return`nobody`;throw e}}var M=new Set([`PLAYER_NOT_FOUND`,`BAD_NAME`,`BAD_ARGUMENT`]);function N(e){let[t]=_(()=>matchMedia(`(min-width: 40rem)`).matches||x(e.filter)!==``);return p(`details`,{open:t,children:[p(`summary`,{children:g.value.archive.filter}),p(P,{...e})]})}function P({filter:e,change:n}){let{archive:r,create:a,stats:s}=g.value,l=[[t.UNSPECIFIED,r.any],[t.BLACK_WINS,r.blackWins],[t.WHITE_WINS,r.whiteWins],[t.DRAW,r.draw],[t.ABORTED,s.aborted]];return p(`div`,{class:`record-filter`,children:[p(A,{name:e.playerName,choose:e=>n({playerId:e?.playerId??``,playerName:e?.displayName??``})}),p(c,{kind:e.kind,set:e=>n({kind:e})}),p(o,{label:r.result,value:e.result,set:e=>n({result:Number(e)}),children:l.map(([e,t])=>p(`option`,{value:e,children:t}))}),p(o,{label:a.opening,value:e.opening,set:e=>n({opening:e}),children:[p(`option`,{value:``,children:r.any}),k.map(e=>p(`option`,{children:e}))]}),p(i,{minRating:e.minRating,set:e=>n({minRating:e})}),p(F,{label:r.from,value:e.from,set:e=>n({from:e})}),p(F,{label:r.until,value:e.until,set:e=>n({until:e})}),p(`label`,{class:`check`,children:[p(`input`,{type:`checkbox`,checked:e.rated,onChange:e=>n({rated:e.currentTarget.checked})}),p(`span`,{children:r.ratedOnly})]})]})}function F({label:e,value:t,set:n}){return p(`label`,{class:`field`,children:[p(`span`,{children:e}),p(`input`,{type:`date`,value:t,onChange:e=>n(e.currentTarget.value)})]})}var I=50;function L({filter:e}){let{archive:t}=g.value;return p(`div`,{class:`records`,children:[p(`div`,{class:`title-row`,children:[p(`h1`,{children:t.finished}),p(`a`,{class:`button`,href:b({screen:`explore`,moves:``}),children:t.openings})]}),p(`div`,{class:`records-columns`,children:[p(`section`,{class:`panel`,children:[p(`h2`,{children:t.games}),p(N,{filter:e,change:e=>{let t=v.value;t.screen===`records`&&S({screen:`records`,filter:{...t.filter,...e}})}}),p(R,{filter:e},JSON.stringify(e))]}),p(`div`,{class:`stack`,children:[p(O,{title:g.value.stats.humans,kind:d.HUMAN}),p(O,{title:g.value.stats.bots,kind:d.BOT}),p(O,{title:g.value.stats.ais,kind:d.AI})]})]})]})}function R({filter:e}){let{archive:t,stats:n,connection:r}=g.value,{entries:i,busy:o,more:s}=l(async t=>{let n=await u.listGames({filter:z(e),pageSize:I,pageToken:t});return{entries:n.games,next:n.nextPageToken}});return p(y,{children:[!i&&!s&&p(`p`,{class:`muted`,children:r.loading}),i?.length===0&&p(`p`,{class:`muted`,children:t.noGames}),i&&p(a,{games:i}),s&&p(`button`,{type:`button`,disabled:o,onClick:s,children:n.more})]})}function z({from:e,until:t,rated:n,playerName:r,...i}){return{...i,...n&&{rated:n},...e&&{endedFrom:T(B(e))},...t&&{endedBefore:T(B(t,1))}}}function B(e,t=0){let n=new Date(`${e}T00:00`);return n.setDate(n.getDate()+t),n}export{L as RecordsScreen};