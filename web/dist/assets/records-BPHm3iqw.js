import{Ct as e,Et as t,Gt as n,It as r,Jt as i,Mt as a,Qt as o,St as s,Ut as c,Wt as l,Zt as u,ct as d,dt as f,ft as p,hn as m,mn as h,pn as g,rt as _,w as v}from"./index-BDLB22Oy.js";import{C as y,D as b,E as x,T as S,d as C,u as w}from"./shared-BEy-UcCL.js";function T(e){return E(e.getTime())}function E(e){let t=Math.floor(e/1e3);return l(c,{seconds:n.parse(t),nanos:(e-t*1e3)*1e6})}var D=20;function O({title:e,kind:n}){let{archive:r}=a.value,{entries:i,busy:o,more:s}=C(async e=>{let t=await _.listRatings({kind:n,pageSize:D,pageToken:e});return{entries:t.participants,next:t.nextPageToken}});return t(`section`,{class:`panel`,children:[t(`h2`,{children:[r.ranking,` · `,e]}),i?.length===0&&t(`p`,{class:`muted`,children:r.noRanking}),i&&i.length>0&&t(`table`,{class:`scores`,children:[t(`thead`,{children:t(`tr`,{children:[t(`th`,{scope:`col`,children:r.name}),t(`th`,{scope:`col`,children:r.rating}),t(`th`,{scope:`col`,children:r.deviation}),t(`th`,{scope:`col`,children:r.games})]})}),t(`tbody`,{children:i.map(({rank:e,participant:n,stats:r})=>t(`tr`,{children:[t(`th`,{scope:`row`,children:[e,`. `,t(w,{of:n})]}),t(`td`,{children:Math.round(r?.rating?.value??0)}),t(`td`,{children:Math.round(2*(r?.rating?.deviation??0))}),t(`td`,{children:r?.rating?.games})]},e))})]}),s&&t(`button`,{type:`button`,disabled:o,onClick:s,children:r.more})]})}var k=`# The usual names of openings, as in Robert Gatliff's list: a name, and the moves from the standard start after which the
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
`).filter(e=>e&&!e.startsWith(`#`)).map(e=>e.slice(0,e.lastIndexOf(` `))).sort((e,t)=>e.localeCompare(t,`en`));function A({name:e,choose:n}){let{archive:r}=a.value,[c,l]=o(``),d=u(``),f=u(null),p=async e=>{d.current=e,l(``);let t=e?await v(()=>s(()=>j(e))):void 0;d.current===e&&(t===`nobody`&&l(e),n(t===`nobody`?void 0:t))};return i(()=>{f.current&&!c&&(f.current.value=e)},[e]),t(`label`,{class:`field`,children:[t(`span`,{children:r.player}),t(`input`,{ref:f,type:`search`,maxLength:24,autoComplete:`off`,placeholder:r.playerName,onChange:e=>void p(e.currentTarget.value.trim())}),c&&t(`span`,{role:`alert`,children:r.nobody(c)})]})}async function j(t){try{return(await _.getPlayerStats({displayName:t})).player}catch(t){if(M.has(e(t).reason))return`nobody`;throw t}}var M=new Set([`PLAYER_NOT_FOUND`,`BAD_NAME`,`BAD_ARGUMENT`]);function N(e){let[n]=o(()=>matchMedia(`(min-width: 40rem)`).matches||h(e.filter)!==``);return t(`details`,{open:n,children:[t(`summary`,{children:a.value.archive.filter}),t(P,{...e})]})}function P({filter:e,change:n}){let{archive:i,create:o,stats:s}=a.value,c=[[r.UNSPECIFIED,i.any],[r.BLACK_WINS,i.blackWins],[r.WHITE_WINS,i.whiteWins],[r.DRAW,i.draw],[r.ABORTED,s.aborted]];return t(`div`,{class:`record-filter`,children:[t(A,{name:e.playerName,choose:e=>n({playerId:e?.playerId??``,playerName:e?.displayName??``})}),t(x,{kind:e.kind,set:e=>n({kind:e})}),t(S,{label:i.result,value:e.result,set:e=>n({result:Number(e)}),children:c.map(([e,n])=>t(`option`,{value:e,children:n}))}),t(S,{label:o.opening,value:e.opening,set:e=>n({opening:e}),children:[t(`option`,{value:``,children:i.any}),k.map(e=>t(`option`,{children:e}))]}),t(b,{minRating:e.minRating,set:e=>n({minRating:e})}),t(F,{label:i.from,value:e.from,set:e=>n({from:e})}),t(F,{label:i.until,value:e.until,set:e=>n({until:e})}),t(`label`,{class:`check`,children:[t(`input`,{type:`checkbox`,checked:e.rated,onChange:e=>n({rated:e.currentTarget.checked})}),t(`span`,{children:i.ratedOnly})]})]})}function F({label:e,value:n,set:r}){return t(`label`,{class:`field`,children:[t(`span`,{children:e}),t(`input`,{type:`date`,value:n,onChange:e=>r(e.currentTarget.value)})]})}var I=50;function L({filter:e}){let{archive:n}=a.value;return t(`div`,{class:`records`,children:[t(`div`,{class:`title-row`,children:[t(`h1`,{children:n.finished}),t(`a`,{class:`button`,href:g({screen:`explore`,moves:``}),children:n.openings})]}),t(`div`,{class:`records-columns`,children:[t(`section`,{class:`panel`,children:[t(`h2`,{children:n.games}),t(N,{filter:e,change:e=>{let t=p.value;t.screen===`records`&&f({screen:`records`,filter:{...t.filter,...e}})}}),t(R,{filter:e},JSON.stringify(e))]}),t(`div`,{class:`stack`,children:[t(O,{title:a.value.stats.humans,kind:d.HUMAN}),t(O,{title:a.value.stats.bots,kind:d.BOT}),t(O,{title:a.value.stats.ais,kind:d.AI})]})]})]})}function R({filter:e}){let{archive:n,stats:r,connection:i}=a.value,{entries:o,busy:s,more:c}=C(async t=>{let n=await _.listGames({filter:z(e),pageSize:I,pageToken:t});return{entries:n.games,next:n.nextPageToken}});return o?t(m,{children:[o.length===0&&t(`p`,{class:`muted`,children:n.noGames}),t(y,{games:o}),c&&t(`button`,{type:`button`,disabled:s,onClick:c,children:r.more})]}):t(`p`,{class:`muted`,children:i.loading})}function z({from:e,until:t,rated:n,playerName:r,...i}){return{...i,...n&&{rated:n},...e&&{endedFrom:T(B(e))},...t&&{endedBefore:T(B(t,1))}}}function B(e,t=0){let n=new Date(`${e}T00:00`);return n.setDate(n.getDate()+t),n}export{L as RecordsScreen};