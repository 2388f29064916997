import{E as e,K as t,T as n,Ut as r,Wt as i,X as a,Y as o,Z as s}from"./shared-Imb0gblJ.js";import{A as c,b as l}from"./protocol-bGy33WLB.js";import{At as u,Bt as d,Cn as f,Kt as p,Lt as m,Qt as h,Sn as g,jt as _,on as v,q as y,rn as b,sn as x,wn as S}from"./index-Ry8KQUdS.js";var C=20;function w({title:t,kind:i}){let{archive:a}=h.value,{entries:o,busy:s,more:c}=e(async e=>{let t=await r.listRatings({kind:i,pageSize:C,pageToken:e});return{entries:t.participants,next:t.nextPageToken}});return p(`section`,{class:`panel`,children:[p(`h2`,{children:[a.ranking,` · `,t]}),o?.length===0&&p(`p`,{class:`muted`,children:a.noRanking}),o&&o.length>0&&p(`table`,{class:`scores`,children:[p(`thead`,{children:p(`tr`,{children:[p(`th`,{scope:`col`,children:a.name}),p(`th`,{scope:`col`,children:a.rating}),p(`th`,{scope:`col`,children:a.deviation}),p(`th`,{scope:`col`,children:a.games})]})}),p(`tbody`,{children:o.map(({rank:e,participant:t,stats:r})=>p(`tr`,{children:[p(`th`,{scope:`row`,children:[e,`. `,p(n,{of:t}),` `,p(`span`,{class:`muted`,children:t?.participant.case===`player`&&t.participant.value.engineVersion})]}),p(`td`,{children:Math.round(r?.rating?.value??0)}),p(`td`,{children:Math.round(2*(r?.rating?.deviation??0))}),p(`td`,{children:r?.rating?.games})]},e))})]}),c&&p(`button`,{type:`button`,disabled:s,onClick:c,children:a.more})]})}var T=`# The usual names of openings, as in Robert Gatliff's list: a name, and the moves from the standard start after which the
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
`).filter(e=>e&&!e.startsWith(`#`)).map(e=>e.slice(0,e.lastIndexOf(` `))).sort((e,t)=>e.localeCompare(t,`en`));function E({name:e,choose:t}){let{archive:n}=h.value,[r,i]=x(``),a=v(``),o=v(null),s=async e=>{a.current=e,i(``);let n=e?await y(()=>m(()=>D(e))):void 0;a.current===e&&(n===`nobody`&&i(e),t(n===`nobody`?void 0:n))};return b(()=>{o.current&&!r&&(o.current.value=e)},[e]),p(`label`,{class:`field`,children:[p(`span`,{children:n.player}),p(`input`,{ref:o,type:`search`,maxLength:24,autoComplete:`off`,placeholder:n.playerName,onChange:e=>void s(e.currentTarget.value.trim())}),r&&p(`span`,{role:`alert`,children:n.nobody(r)})]})}async function D(e){try{return(await r.getPlayerStats({displayName:e})).player}catch(e){if(O.has(d(e).reason))return`nobody`;throw e}}var O=new Set([`PLAYER_NOT_FOUND`,`BAD_NAME`,`BAD_ARGUMENT`]);function k(e){let[t]=x(()=>matchMedia(`(min-width: 40rem)`).matches||f(e.filter)!==``);return p(`details`,{open:t,children:[p(`summary`,{children:h.value.archive.filter}),p(A,{...e})]})}function A({filter:e,change:t}){let{archive:n,create:r,stats:i}=h.value,l=[[c.UNSPECIFIED,n.any],[c.BLACK_WINS,n.blackWins],[c.WHITE_WINS,n.whiteWins],[c.DRAW,n.draw],[c.ABORTED,i.aborted]];return p(`div`,{class:`record-filter`,children:[p(E,{name:e.playerName,choose:e=>t({playerId:e?.playerId??``,playerName:e?.displayName??``})}),p(a,{kind:e.kind,set:e=>t({kind:e})}),p(o,{label:n.result,value:e.result,set:e=>t({result:Number(e)}),children:l.map(([e,t])=>p(`option`,{value:e,children:t}))}),p(o,{label:r.opening,value:e.opening,set:e=>t({opening:e}),children:[p(`option`,{value:``,children:n.any}),T.map(e=>p(`option`,{children:e}))]}),p(s,{minRating:e.minRating,set:e=>t({minRating:e})}),p(j,{label:n.from,value:e.from,set:e=>t({from:e})}),p(j,{label:n.until,value:e.until,set:e=>t({until:e})}),p(`label`,{class:`check`,children:[p(`input`,{type:`checkbox`,checked:e.rated,onChange:e=>t({rated:e.currentTarget.checked})}),p(`span`,{children:n.ratedOnly})]})]})}function j({label:e,value:t,set:n}){return p(`label`,{class:`field`,children:[p(`span`,{children:e}),p(`input`,{type:`date`,value:t,onChange:e=>n(e.currentTarget.value)})]})}var M=50;function N({filter:e}){let{archive:t}=h.value;return p(`div`,{class:`records`,children:[p(`div`,{class:`title-row`,children:[p(`h1`,{children:t.finished}),p(`a`,{class:`button`,href:g({screen:`explore`,moves:``}),children:t.openings})]}),p(`div`,{class:`records-columns`,children:[p(`section`,{class:`panel`,children:[p(`h2`,{children:t.games}),p(k,{filter:e,change:e=>{let t=_.value;t.screen===`records`&&u({screen:`records`,filter:{...t.filter,...e}})}}),p(P,{filter:e},JSON.stringify(e))]}),p(`div`,{class:`stack`,children:[p(`p`,{class:`hint`,children:t.ratingScale}),p(w,{title:h.value.stats.humans,kind:l.HUMAN}),p(w,{title:h.value.stats.bots,kind:l.BOT}),p(w,{title:h.value.stats.ais,kind:l.AI})]})]})]})}function P({filter:n}){let{archive:i,stats:a,connection:o}=h.value,{entries:s,busy:c,more:l}=e(async e=>{let t=await r.listGames({filter:F(n),pageSize:M,pageToken:e});return{entries:t.games,next:t.nextPageToken}});return p(S,{children:[!s&&!l&&p(`p`,{class:`muted`,children:o.loading}),s?.length===0&&p(`p`,{class:`muted`,children:i.noGames}),s&&p(t,{games:s}),l&&p(`button`,{type:`button`,disabled:c,onClick:l,children:a.more})]})}function F({from:e,until:t,rated:n,playerName:r,...a}){return{...a,...n&&{rated:n},...e&&{endedFrom:i(I(e))},...t&&{endedBefore:i(I(t,1))}}}function I(e,t=0){let n=new Date(`${e}T00:00`);return n.setDate(n.getDate()+t),n}export{N as RecordsScreen};